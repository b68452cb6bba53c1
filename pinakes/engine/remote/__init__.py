"""Statements on another engine: which engine runs a statement, and what is asked of a remote one."""
