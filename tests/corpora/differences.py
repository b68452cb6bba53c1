"""The reviewed list of statements that Pinakes answers otherwise than DuckDB: PostgreSQL is the reference."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """What is answered differently, and why that is right."""

    name: str
    reason: str
    sql: str
    """A regular expression that is found in the statement."""
    rows: str = ""
    """One that is found in the description of both results."""

    def covers(self, sql: str, detail: str) -> bool:
        flags = re.IGNORECASE | re.DOTALL
        return bool(re.search(self.sql, sql, flags)) and bool(re.search(self.rows, detail, flags))


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "a regular expression matches a part",
        "PostgreSQL's ~ looks for the pattern anywhere in the text; DuckDB's matches the whole text",
        r"!?~(?!~)",
        r"\(bool",
    ),
    Difference(
        "regexp_replace with a group that does not exist",
        "in PostgreSQL \\3 of a pattern with one group is empty and other escapes stand for themselves; DuckDB leaves "
        "the text unchanged",
        r"regexp_replace\(.*(\\[2-9]|\\\\|t_repl_invalid)",
    ),
    Difference(
        "reverse goes by code points",
        "as in PostgreSQL; DuckDB keeps a character and the accents or joiners behind it together",
        r"\breverse\(",
        r"[\u0300-\u036f\ufe00-\ufe0f]|u200d",
    ),
    Difference(
        "NaN as text",
        "PostgreSQL writes NaN; DuckDB writes nan",
        r"nan|::text",
        r"ours: \d+ rows \(string.*NaN.*DuckDB: \d+ rows \(string.*nan",
    ),
    Difference(
        "x = ANY (NULL)",
        "a comparison with no list is NULL, as in PostgreSQL; DuckDB takes it for an empty one",
        r"ANY\s*\(NULL\)",
        r"ours: 1 rows \(bool\) \[\(None,\)\]",
    ),
    Difference(
        "percentiles of decimals",
        "percentile_cont is a double in PostgreSQL; DuckDB casts that to a decimal with digits that it does not have",
        r"\b(quantile_cont|percentile_cont|median)\(",
        r"ours: \d+ rows \(double.*decimal128\(38, 0\)",
    ),
    Difference(
        "a list of integers as timestamps",
        "an integer counts microseconds since 1970 here; DuckDB's TRY_CAST gives NULL, PostgreSQL has no such cast",
        r"TRY_CAST\((?:.*::INT\[\d*\]|i) AS TIMESTAMP",
        r"ours: \d+ rows \(list<item: timestamp",
    ),
    Difference(
        "a substring before the first character",
        "a start before 1 counts places that the text does not have, as in PostgreSQL and the standard; in DuckDB it "
        "counts from the end",
        r"substr(ing)?\b.*-\s*\d",
    ),
    Difference(
        "split_part with an empty separator",
        "PostgreSQL takes the whole text for the only part; DuckDB splits it into characters",
        r"split_part\(.*''",
    ),
    Difference(
        "sha256 gives bytes",
        "PostgreSQL's sha256 returns bytea; DuckDB's returns hexadecimal text",
        r"sha(224|256|384|512)\(",
        r"ours: \d+ rows \(.*binary.*DuckDB: \d+ rows \(.*string",
    ),
    Difference(
        "a list || NULL",
        "a NULL list adds nothing in PostgreSQL; it makes the result NULL in DuckDB",
        r"\|\|",
        r"ours: \d+ rows \(list.*DuckDB: .*\(None,\)",
    ),
    Difference(
        "array_to_string with a NULL separator",
        "it is NULL in PostgreSQL; DuckDB takes a comma",
        r"array_to_string\(.*NULL",
    ),
    Difference(
        "statistics of one row",
        "corr and the regr_ functions of a single row are NULL in PostgreSQL; NaN in DuckDB",
        r"\b(corr|regr_\w+)\(",
        r"ours: .*None.*DuckDB: .*nan",
    ),
    Difference(
        "text in a binary column",
        "the bytes of a text that is no constant are its UTF-8, as in Spark; DuckDB reads \\x escapes within it",
        r"\\x",
        r"ours: \d+ rows \(.*binary.*\\\\x",
    ),
    Difference(
        "the sum of doubles depends on their order",
        "ORDER BY within sum() is not heeded: another order changes only the last digits of a sum of doubles",
        r"sum\([^()]*ORDER BY",
        r"ours: \d+ rows \((int64|double)\)",
    ),
    Difference(
        "NULL among the elements of a list",
        "array_has_any, array_has_all and array_intersect take NULLs of two lists for equal, as = and DISTINCT do; "
        "DuckDB leaves them out",
        r"(?=.*(NULL|\bFROM\b))\b(list|array)_(has_any|has_all|contains|intersect|position)\(",
    ),
    Difference(
        "NULL as the new length of a list",
        "a NULL argument makes the result NULL; DuckDB takes it for 0",
        r"\b(list|array)_resize\(.*NULL",
    ),
    Difference(
        "flatten of a list that is not nested",
        "[NULL] is a list of NULL, and stays one; DuckDB takes it for a list of lists",
        r"flatten\(\[NULL\]\)",
    ),
    Difference(
        "a map of one pair",
        "map(key, value) with values that are not both lists makes a map of one pair; DuckDB has NULL for a NULL list",
        r"map\(\[.*\], NULL\)",
    ),
    Difference(
        "lists of structs whose fields have another order",
        "fields are matched by name in both; which order the result has is not determined",
        r"(array|list)_concat\(",
        r"struct",
    ),
    Difference(
        "no infinite dates and timestamps",
        "Arrow and Iceberg have no value for infinity",
        r"infinity",
        r"ours: .*None",
    ),
    Difference(
        "forms of dates, times and intervals",
        "texts are read in the form of ISO 8601; PostgreSQL reads more, and has no TRY_CAST",
        r"try_cast\(.*\bas\s+(date|time|timestamp\w*|interval)\s*\)",
        r"ours: .*None|ours: .*\(bool\)",
    ),
    Difference(
        "years before Christ",
        "they are written -1993 as in ISO 8601; PostgreSQL and DuckDB write BC behind",
        r"\(BC\)|FROM dates|DATE '-\d",
        r"\(BC\)|\(bool\)",
    ),
    Difference(
        "intervals have nanoseconds",
        "PostgreSQL rounds an interval to microseconds, DuckDB cuts it off",
        r"interval\s+'0\.0000|'-?\d+\.\d+ MICROSECONDS?'|'\d+\.\d{7,}'::interval",
    ),
    Difference(
        "intervals are compared by their length",
        "a month less 4 days is 26 days in PostgreSQL; DuckDB compares months, days and hours one by one",
        r"interval '.*' [-+] interval '.*",
        r"\(bool\)",
    ),
    Difference(
        "DECIMAL without digits",
        "it is DECIMAL(38, 10) here, DECIMAL(18, 3) in DuckDB; PostgreSQL's has as many digits as the value",
        r"::\s*DECIMAL\b(?!\s*\()",
        r"ours: .*(\.\d{10}'|decimal128\(38, 10\))",
    ),
    Difference(
        "columns of type DECIMAL without digits",
        "they are DECIMAL(38, 10) here, DECIMAL(18, 3) in DuckDB, which rounds what is inserted",
        r"^\s*(insert|update|create|merge)\b",
        r"ours: \d+ rows \(.*decimal128\(38, 10\).*DuckDB: \d+ rows \(.*decimal128\(18, 3\)",
    ),
    Difference(
        "a decimal without digits before the point",
        "PostgreSQL writes 0.100; DuckDB writes .100 for DECIMAL(3, 3)",
        r"::DECIMAL\(\s*3,\s*3\)::VARCHAR",
    ),
    Difference(
        "round(x, -n) with more digits than x has",
        "PostgreSQL's round(5000, -4) is 10000; DuckDB's is 0 for a DECIMAL(4, 0)",
        r"round\(.*DECIMAL\(4,\s*0\), -4\)",
    ),
    Difference(
        "a binary value as text",
        "its bytes are read as UTF-8, as Spark has it; DuckDB gives the digits back, in PostgreSQL X'41' is bits",
        r"\bX'[0-9A-F]*'::VARCHAR",
    ),
    Difference(
        "REAL with a constant",
        "a constant with a point is exact, so that the result is a double, as in PostgreSQL; DuckDB stays with a float",
        r"::(FLOAT|REAL)\s*[-+*/]\s*\d*\.\d",
    ),
    Difference(
        "a key twice in a JSON object, lines that are no JSON",
        "the last of two equal keys counts, as in PostgreSQL's jsonb; a line that is left out gives no row",
        r"11152\.json",
    ),
    Difference(
        "seconds have their fraction",
        "EXTRACT(second FROM …) is 33.42 in PostgreSQL; DuckDB has whole seconds",
        r"\b(extract|date_part|second)\b.*second|\bsecond\(",
        r"ours: \d+ rows \(.*decimal.*DuckDB: \d+ rows \(.*int64",
    ),
    Difference(
        "defect of DuckDB 1.5.5: equal or both NULL",
        "NULL OR false is NULL; DuckDB's optimizer makes IS NOT DISTINCT FROM of it (mended in its later versions)",
        r"IS NULL AND \w+(\.\w+)? IS NULL\)",
        r"\(bool\)|\(int64\) \[\(0,\)\]",
    ),
    Difference(
        "defect of DuckDB 1.5.5: date_trunc of NULL",
        "a comparison with NULL is NULL; DuckDB's optimizer makes it false (mended in its later versions)",
        r"date_trunc\(.*\) (=|<>) ",
        r"'NIL'",
    ),
    Difference(
        "defect of DuckDB 1.5.5: a prepared DELETE",
        "it deletes what was inserted since; DuckDB's plan is stale (mended in its later versions)",
        r"FROM delete_t\b",
    ),
    Difference(
        "defect of DuckDB 1.5.5: a REAL as DECIMAL",
        "12345678 is exact in both types; DuckDB gives 12345678.08",
        r"12345678::FLOAT::DECIMAL",
    ),
    Difference(
        "defect of DuckDB 1.5.5: ILIKE of texts with a zero byte",
        "a text is like itself; DuckDB stops at the zero byte (mended in its later versions)",
        r"ILIKE.*chr\(0\)|SELECT a ILIKE b FROM t\s*$",
        r"ours: \d+ rows \(bool",
    ),
    Difference(
        "defect of DuckDB 1.5.5: the largest UHUGEINT in Arrow",
        "it is 2^128 - 1; DuckDB hands it over as -1",
        r"340282366920938463463374607431768211455",
        r"DuckDB: .*Decimal\('-1'\)",
    ),
    Difference(
        "defect of DuckDB 1.5.5: a window with the same column twice",
        "PARTITION BY a, a has other groups than PARTITION BY a, b; DuckDB takes the two for one window",
        r"PARTITION BY (\w+), \1\b",
    ),
    Difference(
        "defect of DuckDB 1.5.5: atanh(-1)",
        "it is -Infinity, as in PostgreSQL",
        r"atanh\(-1\)",
    ),
    Difference(
        "comparison of rows",
        "(a, b) = (c, d) is NULL where a NULL decides, as in PostgreSQL; in DuckDB NULL equals NULL in it",
        r"\(a, b\) = \(c, d\)",
    ),
    Difference(
        "REAL and INTEGER",
        "REAL * INTEGER is a DOUBLE in PostgreSQL; DuckDB stays with REAL, and gets infinity",
        r"2e38::REAL\*2",
    ),
    Difference(
        "dates in files of text",
        "only dates and timestamps in the form of ISO 8601 are found in CSV and JSON files; DuckDB tries other forms",
        r"\.(json|csv)'",
        r"ours: \d+ rows \(.*string.*DuckDB: \d+ rows \(.*(timestamp|date32|time64)",
    ),
    Difference(
        "constants in a REAL column",
        "a constant becomes the nearest REAL; DuckDB rounds twice",
        r"from issue1472",
    ),
    Difference(
        "defect of DuckDB 1.5.5: ALTER COLUMN beside an open transaction",
        "the table has its new value; DuckDB shows the old one (corrected in its later versions)",
        r"ALTER TABLE test ALTER COLUMN i SET DATA TYPE BIGINT",
        r"ours: .*\(2,\).*DuckDB: .*\(1,\)",
    ),
    Difference(
        "the columns of a view",
        "SELECT * in a view is of the columns that the table had when the view was created, as in PostgreSQL",
        r"SELECT \* FROM v1",
        r"another number of columns",
    ),
    Difference(
        "a decimal without digits before its point, as text",
        "PostgreSQL writes 0.5; DuckDB writes .5",
        r"SELECT \.\d+::VARCHAR",
    ),
    Difference(
        "times outside of a day",
        "a TIME of a Parquet file that is negative is read as it is; DuckDB adds 24 hours",
        r"negative-timetz\.parquet",
    ),
    Difference(
        "a damaged Bloom filter",
        "Bloom filters of Parquet files that can't be read are not used; DuckDB loses rows",
        r"bloom_filter_short_numbytes",
    ),
    Difference(
        "structs in several files",
        "a struct has the fields of all files; in DuckDB those of the first",
        r"multi_file_filter_f1",
        r"struct<",
    ),
    Difference(
        "files that several paths lead to",
        "a file is read once, however many paths of a list lead to it; DuckDB reads it for each path",
        r"'([^']+\.(?:parquet|csv))'.*'\1'",
    ),
    Difference(
        "quotes within a field of a CSV file",
        "a quoted part may end within a field, as in PostgreSQL; DuckDB takes the whole field as it is",
        r"17738_rn",
    ),
    Difference(
        "the form of a CSV file",
        "quote, escape and header are what the options say; DuckDB finds them by trying",
        r"unionbyname_21248|page_namespacepage_title|backslash_escape|single_quote_backslash|empty_header|mismatch/half"
        r"|csv/comments/|unescaped_quotes|bad_escape|timestamp_tz\.csv",
    ),
    Difference(
        "quoted texts that stand for NULL",
        "a quoted text in a CSV file is not NULL, as in PostgreSQL; in DuckDB it may be",
        r"null_comparison|null_string|test_null_option|file_ends_in_quoted_value",
    ),
    Difference(
        "12 o'clock without AM or PM",
        "%I reads 12 as hour 0, as in PostgreSQL; DuckDB reads it as 12",
        r"%I:%M:%S'",
    ),
    Difference(
        "LIMIT without ORDER BY in COPY",
        "which rows are written is not determined",
        r"empty_?list_(int|varchar|nested)\.parquet",
    ),
    Difference(
        "a text constant beside an integer in UNION",
        "a constant text takes the type of the other column, as in PostgreSQL; DuckDB makes both texts",
        r"select '0' as c union all select 0",
    ),
    Difference(
        "NOT IN of rows with NULL",
        "a row that differs in another column is not equal, whatever is NULL; DuckDB 1.5.5 has a defect here",
        r"\(f1, f2\) NOT IN.*NULL::INT",
    ),
    Difference(
        "fields of a struct that is cast",
        "DuckDB 1.5.5 returns another field under ORDER BY with LIMIT",
        r"ms::STRUCT\(b VARCHAR, a VARCHAR\)\)\.b",
    ),
    Difference(
        "ANTI JOIN with an empty table",
        "DuckDB 1.5.5 takes a condition that holds for all rows as true although there are none",
        r"ANTI JOIN \(SELECT \* FROM stats_table WHERE",
    ),
    Difference(
        "SIMILAR TO",
        "a dot is an ordinary character and % stands for any text, as in the SQL standard; DuckDB takes regular "
        "expressions",
        r"SIMILAR TO '[^']*\.",
    ),
    Difference(
        "strftime before year 0",
        "%y of a negative year is not defined",
        r"date '-\d+-01-01', '%y'",
    ),
    Difference(
        "keys after -> that look like a JSON pointer or a quoted name",
        "a text after -> is a key, as in PostgreSQL; only one that begins with $. or $[ is a path",
        r"(->>?|json_extract_path(_text)?\().*'(/|\"|\$')",
    ),
    Difference(
        "escapes in the keys of a JSON path",
        r"\n in a quoted key is a line feed, as in JSON and in the SQL standard",
        r"'\$\.\"[^']*\\n",
    ),
    Difference(
        "NULL in json_array",
        "json_array leaves out NULL, as in PostgreSQL and the SQL standard; json_build_array keeps it",
        r"json_array\(.*null",
    ),
    Difference(
        "white space in JSON",
        "JSON keeps the white space that it is read with, as PostgreSQL's type json does",
        r"json_object\('duck'|json_extract\('\{\"my_field\": \"duck\"\}', ''\)|json_extract\(x,'\$'\)<>x",
    ),
    Difference(
        "times in JSON",
        "JSON has ISO 8601 texts, as in PostgreSQL",
        r"json",
        r"\d\d\d\d-\d\d-\d\dT",
    ),
    Difference(
        "negated unsigned integers",
        "-x of an unsigned x is negative, as that of any number; DuckDB wraps around",
        r"-42::TINYINT::UTINYINT",
    ),
    Difference(
        "doubles next to the limits of an integer",
        "they are rounded to even first, as in PostgreSQL: 127.6 is out of range and -128.5 is -128",
        r"try_cast\(127\.6::(FLOAT|DOUBLE) as TINYINT\)",
    ),
    Difference(
        "the histogram of a list with NaN",
        "NaN is a value of its own; DuckDB counts it as another one",
        r"list_histogram\(\[1\.0, 'nan'",
    ),
    Difference(
        "a comma at the end of a JSON array or object, and infinities",
        "they are invalid in JSON",
        r"json_valid\('(\[.*,\]|\{.*,\}|\{.*inf(inity)?\})'\)",
    ),
    Difference(
        "years before 1 as text",
        "they are written as ISO 8601 has them, -0019 for 20 BC",
        r"d::VARCHAR FROM bc_dates",
    ),
    Difference(
        "EXISTS with <> on the columns of an outer join",
        "NULL <> x is not true; DuckDB 1.5.5 takes it for true, and the file expects our rows",
        r"from issue23979_l",
    ),
    Difference(
        "the case of names in UNPIVOT",
        "a name without quotes is folded to lower case when a table is made, and UNPIVOT gives it as the table has it",
        r"unpivot ?\((sales|\(sales_jan_feb)",
    ),
    Difference(
        "IS NOT DISTINCT FROM in ASOF JOIN",
        "NULL equals NULL in that column alone; DuckDB 1.5.5 applies it to the other columns",
        r"asof left join .*is not distinct from",
    ),
)


def stated_difference(sql: str, detail: str) -> Difference | None:
    """The entry that covers a difference, if there is one."""
    return next((d for d in DIFFERENCES if d.covers(sql, detail)), None)
