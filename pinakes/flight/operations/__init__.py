"""Monitoring of the server: `ledger.py` counts statements, `metrics.py` and `endpoints.py` publish metrics and health
over HTTP, `logs.py` writes the log. The only package that imports prometheus_client."""
