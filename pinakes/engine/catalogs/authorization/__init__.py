"""Who may do what: every statement, relation, path and question about metadata passes `guard.py`."""
