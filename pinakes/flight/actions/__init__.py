"""The actions of Flight and Flight SQL, one module each; `table.py` lists them."""
