"""Workarounds for defects of DataFusion 55 that only a plan shows, one module per defect, each with a test in
`tests/workarounds` or `tests/engine` that fails when the defect is fixed. Defects that a change of the text avoids
belong to `parser/workarounds`.
"""
