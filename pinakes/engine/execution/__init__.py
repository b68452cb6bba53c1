"""A statement while it runs: its record in the tracker, admission, deadlines, cancellation and cached results."""
