"""The actions of Flight and Flight SQL, one module each; `table.py` lists them. What they have in common with commands
is in `flight`.
"""
