"""Statements on another engine: engine selection, the interface of a remote engine, and the statements sent to it.
Spark itself belongs to `pipeline`, the translation of text to `parser/spark`.
"""
