"""The worker's side of the protocol: `dispatch.py` answers requests, and the other modules receive them over pipes,
sockets or HTTP. The bytes of messages belong to `worker/wire`.
"""
