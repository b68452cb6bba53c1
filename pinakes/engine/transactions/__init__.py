"""BEGIN … COMMIT: changes of tables of one catalog that become visible together. Begin with `transaction.py`."""
