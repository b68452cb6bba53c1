"""The ways to log in: a file of users, names in the configuration, tokens, OpenID Connect. `build.py` joins them."""
