"""The text of a statement becomes a DataFusion plan; cached plans, parameters and the description of a statement."""
