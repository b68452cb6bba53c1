"""Plans that DataFusion 55 would answer wrongly or could not stop: one module per defect, each with a test in
`tests/workarounds` or `tests/engine` that fails once it is corrected upstream."""
