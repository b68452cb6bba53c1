"""Names become tables at snapshots, views, files and columns: everything that is decided before planning."""
