"""The login methods: users file, users in the configuration, tokens, OpenID Connect. `build.py` combines them."""
