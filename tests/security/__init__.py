"""Attacks on a server by a user who is logged in and not an administrator."""
