"""Real counterparts for tests: databases, object stores, catalogs and an identity provider, on 127.0.0.1 alone.

A module per server says what it is (`base.Server`); `fetch.py` installs, by package name, into the cache; `running.py`
starts and stops; `plugin.py` makes fixtures of them. `python -m tests.servers` starts them for people.
"""
