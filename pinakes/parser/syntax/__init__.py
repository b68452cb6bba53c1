"""Syntax that DataFusion lacks, rewritten in the text by its tokens. `parser/rewrites.py` calls these modules if their
words are in a statement.
"""
