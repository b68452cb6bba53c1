"""Attacks on a server and on its clients: one file for each finding of a review. Each failed before its fix."""
