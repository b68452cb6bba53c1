"""Subqueries that DataFusion 55 can't plan, rewritten as joins: those that refer to the outer query other than by
`=`, or by several levels, EXISTS and IN outside of WHERE, scalar subqueries without an aggregate, LATERAL with an
aggregate or a LIMIT. `names.py` finds the query of each column, `spread.py` writes a subquery for all outer rows at
once, `joins.py` joins it to the outer query, `grouped.py` puts aggregates below it, `rewrite.py` applies them.

The method is that of Neumann and Kemper, "Unnesting Arbitrary Queries".
"""
