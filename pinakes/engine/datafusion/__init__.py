"""The settings of DataFusion, its view of our catalogs, its errors and metrics, and functions registered with it."""
