"""The commands of Flight SQL, one module each; `table.py` lists them."""
