"""The tests: most of them are SQL (tests/sql/*.slt), the rest is what SQL alone can't say."""
