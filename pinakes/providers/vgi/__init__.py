"""Catalog type `vgi`: a worker, which is a program, a socket or an address that speaks the VGI worker protocol."""
