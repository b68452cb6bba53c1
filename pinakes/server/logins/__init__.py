"""The ways to log in: users file, configuration, tokens, OpenID Connect; `build.py` combines them. What a user may do
is decided by `engine/catalogs/authorization`.
"""
