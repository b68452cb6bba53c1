"""Catalog type `vgi`: a worker, which is a program, a socket or an address with the VGI worker protocol."""
