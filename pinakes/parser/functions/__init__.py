"""Functions of PostgreSQL, DuckDB and Trino that DataFusion does not have, as rewrites of their calls to expressions.

`catalog.py` has all of them. A rewrite that does not depend on types is applied by `parser/workarounds/rewrite.py`, so
that all rules for types and sizes apply to the expression; one that does is applied by `parser/typed/calls.py`. The
names below are functions of `engine/datafusion/library_functions.py`.
"""

AGE = "$age"
"""Returns the interval between two timestamps in years, months, days and time, as age() of PostgreSQL."""
FULL_MONTHS = "$full_months"
"""Returns the full months from a timestamp to another."""
BITS = "$bit_count"
"""Returns the number of bits that are set in a BIGINT."""
EXTRACTED = "$regexp_extract"
"""Returns a group of the first match of a regular expression, and an empty text if there is none."""
ALL_EXTRACTED = "$regexp_extract_all"
"""Returns a group of all matches of a regular expression."""
UUID7 = "$uuidv7"
"""Returns a version 7 UUID for each row of its argument, whose values do not matter."""
UUID_TEXT = "$uuid_text"
"""Returns a UUID in its canonical form. Another text is an error if the second argument is true, else NULL."""
MODE = "$mode"
"""Returns the most frequent element of a list, and the least of several."""
HISTOGRAM = "$histogram"
"""Returns a map of the elements of a list to their numbers."""
LIST_SUM = "$list_sum"
"""Returns the sum of the elements of a list, without those that are NULL."""
WHOLE = "$whole"
"""Returns a number without its fraction, and any other value as it is: a cast to an integer in Spark."""
HALF_UP = "$half_up"
"""Returns a floating-point number rounded with halves away from zero, and any other value as it is: a cast in Trino."""
