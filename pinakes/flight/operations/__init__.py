"""What a server tells of itself: `ledger.py` counts statements, `metrics.py` and `endpoints.py` tell it by HTTP,
`logs.py` by lines. Only this knows prometheus_client.
"""
