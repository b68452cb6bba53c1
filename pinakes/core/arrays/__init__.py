"""Conversions of Arrow arrays and batches: to an exact schema, out of encodings, fields of structs, NaN. Text for
output belongs to `core/output`."""
