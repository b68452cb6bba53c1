"""What every network listener shares: logins, sessions and other state between calls, limits, running calls, statement
logs, health and metrics. Wire formats belong to the listener (`flight`), SQL and privileges to `engine`.
"""
