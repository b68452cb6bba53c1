"""One module per form of statement. Each function reads from a cursor that stands after the first word."""
