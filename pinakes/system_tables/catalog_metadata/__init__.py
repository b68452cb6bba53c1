"""Reads from catalogs what a query of a system table needs: names, tables, columns, constraints and functions, each
call with a timeout and on the catalog's own threads. The tables themselves are declared in the packages of their
schemas."""
