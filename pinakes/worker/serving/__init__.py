"""The worker's side of the protocol: the handling of requests (`dispatch.py`), and the transports."""
