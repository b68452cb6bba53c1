"""A catalog type for Pinakes whose rows are in one JSON file: an example of a store of one's own."""
