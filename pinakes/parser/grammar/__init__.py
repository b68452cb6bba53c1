"""The grammar: one module per family of statements. Each function parses from a cursor after the first word."""
