"""The adapter's version: that of the engine it was tested with."""

version = "0.1.0"
