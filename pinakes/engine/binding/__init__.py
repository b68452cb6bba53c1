"""Binding: names in a statement become tables at snapshots, views, files and columns. The rules of names are in
`core/names.py`, and planning the bound text is in `engine/planning`.
"""
