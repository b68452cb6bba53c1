"""Catalog type `vgi`: a worker, which is a program, a socket or an address that speaks the VGI worker protocol. The
protocol is in `worker`, scans of its tables are in `engine/workers`.
"""
