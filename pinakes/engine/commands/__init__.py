"""Statement handlers by family: the function `detach` in `catalogs.py` runs DETACH. `registry.py` lists them all."""
