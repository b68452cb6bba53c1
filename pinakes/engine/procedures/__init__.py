"""CALL: one procedure, one file. `registry.py` names them all, `call.py` runs one."""
