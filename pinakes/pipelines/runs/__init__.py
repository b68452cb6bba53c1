"""Runs of a pipeline: steps, expectations, incremental tables and records of runs. Loads of files are in
`pipelines/loads`. Start at `runner.py`.
"""
