"""Rows become data files and data files become one commit."""
