"""The Flight SQL server: its commands and actions, and types and errors on the wire. What another listener would share
belongs to `server`, SQL and privileges to `engine`. Start at `server.py`.
"""
