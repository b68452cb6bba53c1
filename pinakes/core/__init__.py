"""What every other part stands on: errors, names, the catalog interface, configuration. Imports nothing of ours."""
