"""Statement in, result out. Start at `run.py`. The only door to DataFusion."""
