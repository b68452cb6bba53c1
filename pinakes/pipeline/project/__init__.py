"""The project of a pipeline: its files, parsed before anything runs. Start reading at `load.py`."""
