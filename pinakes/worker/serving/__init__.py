"""The worker's side of the protocol: what a request means (`dispatch.py`), and the ways that requests come."""
