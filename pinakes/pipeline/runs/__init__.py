"""Runs of a pipeline. Start reading at `runner.py`."""
