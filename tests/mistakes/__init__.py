"""What a new user is most likely to do wrong, and what they are told."""
