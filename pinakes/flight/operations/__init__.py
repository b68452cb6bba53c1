"""Operating a server: totals of statements (`ledger.py`), metrics and health over HTTP (`metrics.py`, `endpoints.py`),
logs (`logs.py`). Calls of clients are answered by the rest of `flight`.
"""
