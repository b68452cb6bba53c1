"""Column types: SQL type names, Iceberg's types, Arrow's types, and the conversions between them. Conversions of values
belong to `core/arrays`.
"""
