"""Privileges: every statement, table, path and request for metadata passes `guard.py`. Logins belong to
`server/logins`.
"""
