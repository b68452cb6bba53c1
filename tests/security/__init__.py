"""Attacks of a user who may log in, each with the error that it gets."""
