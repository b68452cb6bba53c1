"""The project of a pipeline: its files, parsed and checked before anything runs. Running it belongs to
`pipelines/runs`. Start at `load.py`.
"""
