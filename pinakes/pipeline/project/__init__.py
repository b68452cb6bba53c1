"""A pipeline's project: what its files say, before anything runs. Start reading at `load.py`."""
