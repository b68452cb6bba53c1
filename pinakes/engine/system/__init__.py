"""System tables in a plan: the predicates pushed to them, the session's catalogs that they read, and their rows as a
scan. The tables are declared in `system_tables`.
"""
