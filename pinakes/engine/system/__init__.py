"""System tables in queries: the context of the session, the pushdown of a plan, and the rows that replace the
placeholder scan.
"""
