"""Restrictions of what a user or a table may reach: hosts, paths, properties, privileges, and details in errors. Who
checks them when is decided in `engine/catalogs/authorization`; credentials are in `core/secrets.py`.
"""
