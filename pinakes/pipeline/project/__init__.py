"""The project of a pipeline: its files, parsed and checked before anything runs. Running it belongs to `pipeline/runs`.
Start at `load.py`.
"""
