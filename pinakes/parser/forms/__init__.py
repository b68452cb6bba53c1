"""One module per form of statement. Each function reads its statement from a cursor that stands after its first word."""
