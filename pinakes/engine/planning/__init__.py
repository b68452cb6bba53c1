"""The text of a bound statement becomes a DataFusion plan; the plan cache, and types of parameters and expressions.
What a name refers to is decided by `engine/binding`, what a scan reads by `engine/pushdown`.
"""
