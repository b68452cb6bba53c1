"""The Flight SQL server: calls, sessions, results, logins and metrics. SQL, privileges and limits of statements belong
to `engine`. Start at `server.py`.
"""
