"""Projects and runs of pipelines."""
