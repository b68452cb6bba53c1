"""CALL: one module per procedure; `registry.py` lists them, `call.py` runs one. The work on tables is done by
`engine/iceberg`.
"""
