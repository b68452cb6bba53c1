"""What makes a whole query quicker than its scans: work that is done once, joins in a better order."""
