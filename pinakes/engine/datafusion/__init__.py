"""Everything about DataFusion that does not depend on catalogs or Iceberg: contexts and their settings, functions,
scans of given files, serialised plans, metrics and error translation. It imports no other package of the engine.
"""
