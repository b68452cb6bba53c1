"""Pipelines that run on Spark: `project` reads one, `runs` runs it, `loads` loads files into its tables. Spark itself
belongs to `spark`.
"""
