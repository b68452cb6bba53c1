"""Loads of a pipeline, on a real Spark."""
