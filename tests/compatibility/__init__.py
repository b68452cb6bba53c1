"""Data, catalogs, configurations and other state that earlier versions wrote, which every later version must open."""
