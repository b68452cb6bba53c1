"""The base layer: errors, names, the catalog interface and configuration. Imports no other pinakes package."""
