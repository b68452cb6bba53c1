"""Rewrites of a query that make it faster: join order, and subqueries that are computed once. Each returns the same
rows as the original; corrections of results belong to `parser/workarounds`.
"""
