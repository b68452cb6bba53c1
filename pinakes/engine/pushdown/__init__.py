"""What an optimised plan asks of each of its scans: columns, predicates and a limit."""
