"""Expressions whose answers differ, or could differ, between dialects of SQL."""

from __future__ import annotations

COMMON = """
7 / 2
-7 / 2
7.0 / 2
1.5 * 2
7 % 3
-7 % 3
7 % -3
2 + 3 * 4
'a' || 'b'
'a' || NULL
concat('a', NULL, 'b')
concat('a', 'b')
concat_ws('-', 'a', NULL, 'b')
coalesce(NULL, 2)
nullif(1, 1)
greatest(1, 2)
greatest(1, NULL, 2)
least(1, NULL)
substr('hello', 2)
substr('hello', 2, 3)
substr('hello', 0)
substr('hello', 0, 2)
substr('hello', -2)
substr('hello', -3, 2)
substr('hello', -9)
substr('hello', -9, 5)
substr('hello', 9)
substring('hello', 2, 2)
upper('aß')
lower('ÀB')
length('añb')
length('')
trim('  a ')
ltrim('  a')
rtrim('a  ')
replace('banana', 'an', 'x')
reverse('abc')
lpad('a', 3, 'xy')
rpad('a', 3, 'xy')
lpad('abcd', 2, 'x')
position('b' IN 'abc')
'abc' LIKE 'a%'
'a_c' LIKE 'a\\_c'
'abc' LIKE 'a\\_c'
'a\\c' LIKE 'a\\c'
'abc' NOT LIKE 'b%'
'abc' LIKE 'A%'
'50%' LIKE '50x%' ESCAPE 'x'
CAST('12' AS INT)
CAST(2.5 AS INT)
CAST(3.5 AS INT)
CAST(-2.5 AS INT)
CAST(2.9 AS INT)
CAST(-2.9 AS INT)
CAST(CAST(2.5 AS DOUBLE PRECISION) AS INT)
CAST(CAST(2.9 AS DOUBLE PRECISION) AS INT)
CAST(CAST(-2.5 AS DOUBLE PRECISION) AS INT)
CAST(1 AS BOOLEAN)
CAST('2020-02-03' AS DATE)
CAST(1.005 AS DECIMAL(10, 2))
CAST(12 AS VARCHAR(5))
CAST(true AS INT)
round(2.5)
round(3.5)
round(-2.5)
round(2.345, 2)
round(CAST(2.5 AS DOUBLE PRECISION))
round(CAST(-2.5 AS DOUBLE PRECISION))
round(125, -1)
floor(-1.5)
ceil(1.2)
abs(-3)
sqrt(16)
power(2, 10)
exp(0)
ln(1)
log10(100)
log2(8)
sign(-2)
mod(7, 3)
mod(-7, 3)
pi()
degrees(pi())
extract(year FROM DATE '2020-02-03')
extract(month FROM DATE '2020-02-03')
extract(day FROM DATE '2020-02-03')
extract(week FROM DATE '2021-01-01')
extract(quarter FROM DATE '2020-02-03')
extract(doy FROM DATE '2020-02-03')
extract(dow FROM DATE '2020-02-02')
extract(dow FROM DATE '2020-02-03')
year(DATE '2020-02-03')
month(DATE '2020-02-03')
day(DATE '2020-02-03')
quarter(DATE '2020-02-03')
hour(TIMESTAMP '2020-02-03 04:05:06')
minute(TIMESTAMP '2020-02-03 04:05:06')
second(TIMESTAMP '2020-02-03 04:05:06')
DATE '2020-01-31' + INTERVAL '1' DAY
DATE '2020-02-03' < DATE '2020-02-04'
TIMESTAMP '2020-01-31 10:00:00' + INTERVAL '1' MONTH
TIMESTAMP '2020-03-31 10:00:00' - INTERVAL '1' MONTH
TIMESTAMP '2020-01-31 10:00:00' + INTERVAL '2' HOUR
date_trunc('month', TIMESTAMP '2020-02-03 04:05:06')
date_trunc('day', TIMESTAMP '2020-02-03 04:05:06')
date_trunc('hour', TIMESTAMP '2020-02-03 04:05:06')
date_trunc('year', TIMESTAMP '2020-02-03 04:05:06')
date_trunc('week', TIMESTAMP '2020-02-05 04:05:06')
CASE WHEN 1 = 2 THEN 'a' ELSE 'b' END
CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END
CASE WHEN NULL THEN 1 ELSE 2 END
1 IS NOT DISTINCT FROM NULL
NULL IS DISTINCT FROM NULL
1 IN (1, NULL)
2 IN (1, NULL)
2 NOT IN (1, 3)
3 BETWEEN 1 AND 3
NOT (1 = 2)
NULL AND false
NULL OR true
1 = 1.0
regexp_replace('abcabc', 'b', 'x')
(SELECT sum(x) FROM (VALUES (1), (2), (NULL)) AS t(x))
(SELECT avg(x) FROM (VALUES (1), (2)) AS t(x))
(SELECT count(x) FROM (VALUES (1), (NULL)) AS t(x))
(SELECT count(DISTINCT x) FROM (VALUES (1), (1), (2)) AS t(x))
(SELECT min(x) FROM (VALUES ('b'), ('a')) AS t(x))
(SELECT max(x) FROM (VALUES (1), (NULL)) AS t(x))
(SELECT sum(x) FROM (VALUES (1)) AS t(x) WHERE x > 5)
(SELECT stddev(x) FROM (VALUES (1), (2), (4)) AS t(x))
(SELECT var_pop(x) FROM (VALUES (1), (2), (4)) AS t(x))
(SELECT x FROM (VALUES (1), (NULL), (2)) AS t(x) ORDER BY x LIMIT 1)
(SELECT x FROM (VALUES (1), (NULL), (2)) AS t(x) ORDER BY x DESC LIMIT 1)
(SELECT x FROM (VALUES (1), (NULL), (2)) AS t(x) ORDER BY x NULLS FIRST LIMIT 1)
(SELECT x FROM (VALUES (1), (NULL), (2)) AS t(x) ORDER BY x DESC NULLS LAST LIMIT 1)
(SELECT r FROM (SELECT rank() OVER (ORDER BY x DESC) r, x FROM (VALUES (1), (NULL)) t(x)) u WHERE x IS NULL)
(SELECT max(r) FROM (SELECT rank() OVER (ORDER BY x) AS r, x FROM (VALUES (1), (NULL)) t(x)) u WHERE x IS NULL)
(SELECT lag(x) OVER (ORDER BY x) FROM (VALUES (1), (2)) AS t(x) ORDER BY x DESC LIMIT 1)
(SELECT count(*) FROM (SELECT 1 AS a UNION SELECT 1) AS t)
(SELECT count(*) FROM (SELECT 1 AS a UNION ALL SELECT 1) AS t)
(SELECT count(*) FROM (VALUES (1), (2)) AS t(x) WHERE x IN (SELECT 2))
(SELECT max_by(x, y) FROM (VALUES (1, 5), (2, 9)) AS t(x, y))
(SELECT count_if(x > 1) FROM (VALUES (1), (2)) AS t(x))
""".strip().split("\n")

DUCKDB = """
7 // 2
-7 // 2
2 ** 3
2 ^ 3
5 & 3
5 | 3
xor(5, 3)
1 / 0
1.0 / 4
CAST(1 AS DECIMAL(10, 2)) / 3
7::INT / 2::INT
'12'::INT + 1
TRY_CAST('x' AS INT)
1 == 1
'abc' ~ 'b'
'abc' ~ 'a.c'
'abc' !~ 'b'
'abc' SIMILAR TO 'a.c'
'abc' ILIKE 'A%'
regexp_matches('abc', 'b')
regexp_extract('abc123', '[0-9]+')
regexp_extract('abc', '[0-9]+')
regexp_extract('a1b2', '([a-z])([0-9])', 2)
regexp_replace('aaa', 'a', 'b', 'g')
regexp_replace('abc', '(b)', '[\\1]')
string_split('a,b', ',')
str_split('a,b', ',')
split_part('a,b', ',', 2)
starts_with('abc', 'a')
contains('abc', 'b')
prefix('abc', 'a')
suffix('abc', 'c')
instr('abc', 'c')
strpos('abc', 'c')
left('abc', 2)
left('abc', -1)
right('abc', 2)
right('abc', -1)
repeat('a', 3)
ascii('a')
chr(97)
md5('a')
strftime(DATE '2020-02-03', '%Y/%m/%d')
strftime(TIMESTAMP '2020-02-03 14:05:06', '%H:%M:%S')
strftime(TIMESTAMP '2020-02-03 14:05:06', '%-d.%-m.%y %I %p')
strptime('2020-02-03', '%Y-%m-%d')
date_diff('day', DATE '2020-01-01', DATE '2020-02-01')
date_diff('month', DATE '2020-01-31', DATE '2020-02-01')
date_diff('year', DATE '2019-12-31', DATE '2020-01-01')
date_sub('month', DATE '2020-01-31', DATE '2020-02-01')
datediff('hour', TIMESTAMP '2020-01-01 10:59:00', TIMESTAMP '2020-01-01 11:00:00')
date_part('dow', DATE '2020-02-02')
date_part('isodow', DATE '2020-02-02')
date_part('year', DATE '2020-02-02')
dayofweek(DATE '2020-02-02')
isodow(DATE '2020-02-02')
weekofyear(DATE '2021-01-01')
dayofyear(DATE '2020-02-02')
dayname(DATE '2020-02-02')
monthname(DATE '2020-02-02')
last_day(DATE '2020-02-02')
make_date(2020, 2, 3)
DATE '2020-02-03' - DATE '2020-02-01'
DATE '2020-02-03' + 2
epoch(TIMESTAMP '1970-01-02 00:00:00')
last_day(DATE '2020-03-09')
[1, 2, 3][1]
[1, 2, 3][0]
[1, 2, 3][-1]
[1, 2, 3][5]
[1, 2, 3][2:3]
list_value(1, 2)
list_contains([1, 2], 2)
list_has([1, 2], 3)
list_transform([1, 2], x -> x + 1)
list_transform([1, 2], lambda x: x + 1)
list_filter([1, 2, 3], x -> x > 1)
list_sum([1, 2])
list_max([1, 3, 2])
list_min([3, 1, 2])
list_distinct([1, 1])
list_concat([1], [2])
list_append([1], 2)
list_prepend(1, [2])
list_sort([3, 1, 2])
list_sort([3, NULL, 2])
array_length([1, 2])
len([1, 2])
len('abc')
range(3)
range(1, 3)
generate_series(1, 3)
{'a': 1}.a
struct_pack(a := 1, b := 2)
map {'a': 1}['a']
map_keys(map {'a': 1})
'{"a": {"b": 1}}'->'a'
'{"a": "x"}'->>'a'
'{"a": "x"}'->>'$.a'
json_extract('{"a": [1, 2]}', '$.a[0]')
json_extract_string('{"a": "x"}', '$.a')
json_array_length('[1, 2]')
json_keys('{"a": 1}')
json_valid('{')
json_type('[1]')
CASE WHEN '{"a": 1}'->>'a' = '1' THEN 1 ELSE 0 END
(SELECT list(x ORDER BY x DESC) FROM (VALUES (1), (NULL), (2)) t(x))
(SELECT string_agg(x, ',' ORDER BY x) FROM (VALUES ('b'), ('a')) t(x))
(SELECT arg_max(x, y) FROM (VALUES (1, 5), (2, 9)) t(x, y))
(SELECT any_value(x) FROM (VALUES (NULL), (2)) t(x))
(SELECT first(x ORDER BY x) FROM (VALUES (3), (2)) t(x))
(SELECT median(x) FROM (VALUES (1), (2), (4)) t(x))
(SELECT median(x) FROM (VALUES (1), (2)) t(x))
(SELECT mode(x) FROM (VALUES (1), (2), (2)) t(x))
(SELECT quantile_cont(x, 0.5) FROM (VALUES (1), (2)) t(x))
(SELECT bool_and(x) FROM (VALUES (true), (NULL)) t(x))
(SELECT bit_or(x) FROM (VALUES (1), (2)) t(x))
(SELECT histogram(x) FROM (VALUES (1), (1), (2)) t(x))
(SELECT stddev_pop(x) FROM (VALUES (1), (2)) t(x))
(SELECT avg(x) FROM (VALUES (1.5), (2.5)) t(x))
(SELECT sum(x) FILTER (WHERE x > 1) FROM (VALUES (1), (2)) t(x))
(SELECT x FROM (VALUES (1), (2)) t(x) QUALIFY row_number() OVER (ORDER BY x DESC) = 1)
(SELECT count(*) FROM range(5))
(SELECT sum(u) FROM (SELECT unnest([1, 2]) AS u))
(SELECT sum(u) FROM unnest([1, 2]) AS t(u))
(FROM (VALUES (3)) t(x) SELECT x)
(SELECT a FROM (SELECT * EXCLUDE (b) FROM (VALUES (1, 2)) t(a, b)))
(SELECT a FROM (SELECT * REPLACE (a + 1 AS a) FROM (VALUES (1, 2)) t(a, b)))
(SELECT sum(c) FROM (SELECT x, count(*) AS c FROM (VALUES (1), (1)) t(x) GROUP BY ALL))
if(1 > 2, 'a', 'b')
ifnull(NULL, 3)
gcd(12, 18)
factorial(5)
isnan('nan'::DOUBLE)
bit_count(7)
levenshtein('abc', 'abd')
trunc(-2.7)
log(100)
log(2, 8)
typeof(1)
list_reduce([1, 2], (x, y) -> x + y)
array_to_string(['a', 'b'], ',')
to_json([1, 2])
nullif('a', 'b')
""".strip().split("\n")

TRINO = dict(
    line.split("  =>  ")
    for line in """
7 / 2  =>  3.0
-7 / 2  =>  -3.0
7.0 / 2  =>  3.5
1.5 * 2  =>  3.0
7 % 3  =>  1.0
-7 % 3  =>  -1.0
7 % -3  =>  1.0
2 + 3 * 4  =>  14.0
'a' || 'b'  =>  ab
'a' || NULL  =>  None
concat('a', NULL, 'b')  =>  None
concat('a', 'b')  =>  ab
concat_ws('-', 'a', NULL, 'b')  =>  a-b
coalesce(NULL, 2)  =>  2.0
nullif(1, 1)  =>  None
greatest(1, 2)  =>  2.0
greatest(1, NULL, 2)  =>  None
least(1, NULL)  =>  None
substr('hello', 2)  =>  ello
substr('hello', 2, 3)  =>  ell
substr('hello', 0)  =>  (empty)
substr('hello', 0, 2)  =>  (empty)
substr('hello', -2)  =>  lo
substr('hello', -3, 2)  =>  ll
substr('hello', -9)  =>  (empty)
substr('hello', -9, 5)  =>  (empty)
substr('hello', 9)  =>  (empty)
substring('hello', 2, 2)  =>  el
upper('aß')  =>  ASS
lower('ÀB')  =>  àb
length('añb')  =>  3.0
length('')  =>  0.0
trim('  a ')  =>  a
ltrim('  a')  =>  a
rtrim('a  ')  =>  a
replace('banana', 'an', 'x')  =>  bxxa
reverse('abc')  =>  cba
lpad('a', 3, 'xy')  =>  xya
rpad('a', 3, 'xy')  =>  axy
lpad('abcd', 2, 'x')  =>  ab
position('b' IN 'abc')  =>  2.0
'abc' LIKE 'a%'  =>  True
'a_c' LIKE 'a\\_c'  =>  False
'abc' LIKE 'a\\_c'  =>  False
'a\\c' LIKE 'a\\c'  =>  True
'abc' NOT LIKE 'b%'  =>  True
'abc' LIKE 'A%'  =>  False
'50%' LIKE '50x%' ESCAPE 'x'  =>  True
CAST('12' AS INT)  =>  12.0
CAST(2.5 AS INT)  =>  3.0
CAST(3.5 AS INT)  =>  4.0
CAST(-2.5 AS INT)  =>  -3.0
CAST(2.9 AS INT)  =>  3.0
CAST(-2.9 AS INT)  =>  -3.0
CAST(CAST(2.5 AS DOUBLE) AS INT)  =>  3.0
CAST(CAST(2.9 AS DOUBLE) AS INT)  =>  3.0
CAST(CAST(-2.5 AS DOUBLE) AS INT)  =>  -3.0
CAST(1 AS BOOLEAN)  =>  True
CAST('2020-02-03' AS DATE)  =>  2020-02-03
CAST(1.005 AS DECIMAL(10, 2))  =>  1.01
CAST(12 AS VARCHAR(5))  =>  12
CAST(true AS INT)  =>  1.0
round(2.5)  =>  3.0
round(3.5)  =>  4.0
round(-2.5)  =>  -3.0
round(2.345, 2)  =>  2.35
round(CAST(2.5 AS DOUBLE))  =>  3.0
round(CAST(-2.5 AS DOUBLE))  =>  -3.0
round(125, -1)  =>  130.0
floor(-1.5)  =>  -2.0
ceil(1.2)  =>  2.0
abs(-3)  =>  3.0
sqrt(16)  =>  4.0
power(2, 10)  =>  1024.0
exp(0)  =>  1.0
ln(1)  =>  0.0
log10(100)  =>  2.0
log2(8)  =>  3.0
sign(-2)  =>  -1.0
mod(7, 3)  =>  1.0
mod(-7, 3)  =>  -1.0
pi()  =>  3.141592654
degrees(pi())  =>  180.0
extract(year FROM DATE '2020-02-03')  =>  2020.0
extract(month FROM DATE '2020-02-03')  =>  2.0
extract(day FROM DATE '2020-02-03')  =>  3.0
extract(week FROM DATE '2021-01-01')  =>  53.0
extract(quarter FROM DATE '2020-02-03')  =>  1.0
extract(doy FROM DATE '2020-02-03')  =>  34.0
extract(dow FROM DATE '2020-02-02')  =>  7.0
extract(dow FROM DATE '2020-02-03')  =>  1.0
year(DATE '2020-02-03')  =>  2020.0
month(DATE '2020-02-03')  =>  2.0
day(DATE '2020-02-03')  =>  3.0
quarter(DATE '2020-02-03')  =>  1.0
hour(TIMESTAMP '2020-02-03 04:05:06')  =>  4.0
minute(TIMESTAMP '2020-02-03 04:05:06')  =>  5.0
second(TIMESTAMP '2020-02-03 04:05:06')  =>  6.0
DATE '2020-01-31' + INTERVAL '1' DAY  =>  2020-02-01
DATE '2020-02-03' < DATE '2020-02-04'  =>  True
TIMESTAMP '2020-01-31 10:00:00' + INTERVAL '1' MONTH  =>  2020-02-29 10:00:00
TIMESTAMP '2020-03-31 10:00:00' - INTERVAL '1' MONTH  =>  2020-02-29 10:00:00
TIMESTAMP '2020-01-31 10:00:00' + INTERVAL '2' HOUR  =>  2020-01-31 12:00:00
date_trunc('month', TIMESTAMP '2020-02-03 04:05:06')  =>  2020-02-01 00:00:00
date_trunc('day', TIMESTAMP '2020-02-03 04:05:06')  =>  2020-02-03 00:00:00
date_trunc('hour', TIMESTAMP '2020-02-03 04:05:06')  =>  2020-02-03 04:00:00
date_trunc('year', TIMESTAMP '2020-02-03 04:05:06')  =>  2020-01-01 00:00:00
date_trunc('week', TIMESTAMP '2020-02-05 04:05:06')  =>  2020-02-03 00:00:00
CASE WHEN 1 = 2 THEN 'a' ELSE 'b' END  =>  b
CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END  =>  b
CASE WHEN NULL THEN 1 ELSE 2 END  =>  2.0
1 IS NOT DISTINCT FROM NULL  =>  False
NULL IS DISTINCT FROM NULL  =>  False
1 IN (1, NULL)  =>  True
2 IN (1, NULL)  =>  None
2 NOT IN (1, 3)  =>  True
3 BETWEEN 1 AND 3  =>  True
NOT (1 = 2)  =>  True
NULL AND false  =>  False
NULL OR true  =>  True
1 = 1.0  =>  True
regexp_replace('abcabc', 'b', 'x')  =>  axcaxc
(SELECT sum(x) FROM (VALUES (1), (2), (NULL)) AS t(x))  =>  3.0
(SELECT avg(x) FROM (VALUES (1), (2)) AS t(x))  =>  1.5
(SELECT count(x) FROM (VALUES (1), (NULL)) AS t(x))  =>  1.0
(SELECT count(DISTINCT x) FROM (VALUES (1), (1), (2)) AS t(x))  =>  2.0
(SELECT min(x) FROM (VALUES ('b'), ('a')) AS t(x))  =>  a
(SELECT max(x) FROM (VALUES (1), (NULL)) AS t(x))  =>  1.0
(SELECT sum(x) FROM (VALUES (1)) AS t(x) WHERE x > 5)  =>  None
(SELECT stddev(x) FROM (VALUES (1), (2), (4)) AS t(x))  =>  1.527525232
(SELECT var_pop(x) FROM (VALUES (1), (2), (4)) AS t(x))  =>  1.555555556
(SELECT x FROM (VALUES (1), (NULL), (2)) AS t(x) ORDER BY x LIMIT 1)  =>  1.0
(SELECT x FROM (VALUES (1), (NULL), (2)) AS t(x) ORDER BY x DESC LIMIT 1)  =>  2.0
(SELECT x FROM (VALUES (1), (NULL), (2)) AS t(x) ORDER BY x NULLS FIRST LIMIT 1)  =>  None
(SELECT x FROM (VALUES (1), (NULL), (2)) AS t(x) ORDER BY x DESC NULLS LAST LIMIT 1)  =>  2.0
(SELECT r FROM (SELECT rank() OVER (ORDER BY x DESC) r, x FROM (VALUES (1), (NULL)) t(x)) u WHERE x IS NULL)  =>  2.0
(SELECT max(r) FROM (SELECT rank() OVER (ORDER BY x) AS r, x FROM (VALUES (1), (NULL)) t(x)) u WHERE x IS NULL)  =>  2.0
(SELECT lag(x) OVER (ORDER BY x) FROM (VALUES (1), (2)) AS t(x) ORDER BY x DESC LIMIT 1)  =>  1.0
(SELECT count(*) FROM (SELECT 1 AS a UNION SELECT 1) AS t)  =>  1.0
(SELECT count(*) FROM (SELECT 1 AS a UNION ALL SELECT 1) AS t)  =>  2.0
(SELECT count(*) FROM (VALUES (1), (2)) AS t(x) WHERE x IN (SELECT 2))  =>  1.0
(SELECT max_by(x, y) FROM (VALUES (1, 5), (2, 9)) AS t(x, y))  =>  2.0
(SELECT count_if(x > 1) FROM (VALUES (1), (2)) AS t(x))  =>  1.0
5 / 2.0  =>  2.5
bitwise_and(5, 3)  =>  1.0
bitwise_xor(5, 3)  =>  6.0
truncate(-2.7)  =>  -2.0
log(2, 8)  =>  3.0
is_nan(nan())  =>  True
cbrt(27)  =>  3.0
random() < 1  =>  True
if(1 > 2, 'a', 'b')  =>  b
if(1 > 2, 'a')  =>  None
TRY_CAST('x' AS INTEGER)  =>  None
TRY(1 / 0)  =>  refused
strpos('abc', 'c')  =>  3.0
split_part('a,b', ',', 2)  =>  b
split('a,b', ',')  =>  ['a', 'b']
codepoint('a')  =>  97.0
chr(97)  =>  a
starts_with('abc', 'a')  =>  True
levenshtein_distance('abc', 'abd')  =>  1.0
translate('abc', 'ab', 'xy')  =>  xyc
to_hex(md5(to_utf8('a')))  =>  0CC175B9C0F1B6A831C399E269772661
substring('hello' FROM 2 FOR 3)  =>  ell
regexp_like('abc', 'b')  =>  True
regexp_extract('abc123', '[0-9]+')  =>  123
regexp_extract('abc', '[0-9]+')  =>  None
regexp_extract('a1b2', '([a-z])([0-9])', 2)  =>  1
regexp_replace('abc', '(b)', '[$1]')  =>  a[b]c
regexp_replace('abc', 'b')  =>  ac
concat('a', 'b', 'c')  =>  abc
'a' || CAST(1 AS VARCHAR)  =>  a1
CAST('abc' AS VARCHAR(2))  =>  ab
date_add('day', 1, DATE '2020-01-31')  =>  2020-02-01
date_add('month', 1, DATE '2020-01-31')  =>  2020-02-29
date_add('hour', 2, TIMESTAMP '2020-01-31 10:00:00')  =>  2020-01-31 12:00:00
date_diff('day', DATE '2020-01-01', DATE '2020-02-01')  =>  31.0
date_diff('month', DATE '2020-01-31', DATE '2020-02-01')  =>  0.0
date_diff('year', DATE '2019-12-31', DATE '2020-01-01')  =>  0.0
date_diff('hour', TIMESTAMP '2020-01-01 10:59:00', TIMESTAMP '2020-01-01 11:00:00')  =>  0.0
date_diff('minute', TIMESTAMP '2020-01-01 10:59:00', TIMESTAMP '2020-01-01 11:00:30')  =>  1.0
day_of_week(DATE '2020-02-02')  =>  7.0
dow(DATE '2020-02-03')  =>  1.0
day_of_year(DATE '2020-02-03')  =>  34.0
day_of_month(DATE '2020-02-03')  =>  3.0
week(DATE '2021-01-01')  =>  53.0
week_of_year(DATE '2021-01-01')  =>  53.0
year_of_week(DATE '2021-01-01')  =>  2020.0
extract(day_of_week FROM DATE '2020-02-02')  =>  7.0
extract(yow FROM DATE '2021-01-01')  =>  2020.0
last_day_of_month(DATE '2020-02-03')  =>  2020-02-29
date('2020-02-03')  =>  2020-02-03
date_format(TIMESTAMP '2020-02-03 14:05:06', '%Y-%m-%d %H:%i:%s')  =>  2020-02-03 14:05:06
date_format(TIMESTAMP '2020-02-03 14:05:06', '%e.%c.%y %h %p')  =>  3.2.20 02 PM
date_format(TIMESTAMP '2020-02-03 14:05:06', '%M %W')  =>  February Monday
date_parse('2020-02-03 14:05', '%Y-%m-%d %H:%i')  =>  2020-02-03 14:05:00
to_unixtime(TIMESTAMP '1970-01-01 00:00:01')  =>  1.0
INTERVAL '2' DAY + DATE '2020-01-01'  =>  2020-01-03
cardinality(ARRAY[1, 2])  =>  2.0
ARRAY[1, 2][1]  =>  1.0
element_at(ARRAY[1, 2], 1)  =>  1.0
element_at(ARRAY[1, 2], -1)  =>  2.0
element_at(ARRAY[1, 2], 5)  =>  None
element_at(MAP(ARRAY['a'], ARRAY[1]), 'a')  =>  1.0
contains(ARRAY[1, 2], 2)  =>  True
contains(ARRAY[1, 2], 3)  =>  False
array_max(ARRAY[1, 3])  =>  3.0
array_min(ARRAY[1, 3])  =>  1.0
array_join(ARRAY['a', NULL, 'b'], ',')  =>  a,b
array_position(ARRAY[1, 2], 2)  =>  2.0
array_position(ARRAY[1, 2], 9)  =>  0.0
array_distinct(ARRAY[1, 1])  =>  [1.0]
array_sort(ARRAY[3, 1, NULL, 2])  =>  [1.0, 2.0, 3.0, None]
ARRAY[1] || ARRAY[2]  =>  [1.0, 2.0]
sequence(1, 3)  =>  [1.0, 2.0, 3.0]
transform(ARRAY[1, 2], x -> x + 1)  =>  [2.0, 3.0]
filter(ARRAY[1, 2, 3], x -> x > 1)  =>  [2.0, 3.0]
any_match(ARRAY[1, 2], x -> x > 1)  =>  True
reduce(ARRAY[1, 2], 0, (s, x) -> s + x, s -> s)  =>  refused
json_extract_scalar('{"a": "x"}', '$.a')  =>  x
json_extract_scalar('{"a": {"b": 1}}', '$.a')  =>  None
json_extract_scalar('{"a": 1}', '$.b')  =>  None
json_array_length('[1, 2]')  =>  2.0
url_extract_host('http://a.b/c')  =>  a.b
typeof(1)  =>  refused
TIMESTAMP '2020-01-01 10:00:00 UTC'  =>  2020-01-01 10:00:00
TIMESTAMP '2020-01-01 10:00:00' AT TIME ZONE 'Europe/Berlin'  =>  refused
(SELECT arbitrary(x) FROM (VALUES (1), (1)) AS t(x))  =>  1.0
(SELECT listagg(x, ',') WITHIN GROUP (ORDER BY x) FROM (VALUES ('b'), ('a')) AS t(x))  =>  a,b
(SELECT array_agg(x ORDER BY x DESC) FROM (VALUES 1, NULL, 2) AS t(x))  =>  [2.0, 1.0, None]
(SELECT approx_distinct(x) FROM (VALUES 1, 1, 2) AS t(x))  =>  2.0
(SELECT bool_or(x) FROM (VALUES true, NULL) AS t(x))  =>  True
(SELECT min_by(x, y) FROM (VALUES (1, 5), (2, 9)) AS t(x, y))  =>  1.0
(SELECT sum(u) FROM UNNEST(ARRAY[1, 2]) AS t(u))  =>  3.0
(SELECT sum(o) FROM UNNEST(ARRAY[5, 6]) WITH ORDINALITY AS t(u, o))  =>  3.0
(SELECT sum(u) FROM (VALUES (ARRAY[1, 2])) AS t(a) CROSS JOIN UNNEST(a) AS v(u))  =>  3.0
(SELECT sum(x) FILTER (WHERE x > 1) FROM (VALUES 1, 2) AS t(x))  =>  2.0
(SELECT x FROM (VALUES 1, 2) AS t(x) ORDER BY x DESC FETCH FIRST 1 ROW ONLY)  =>  2.0
(SELECT x FROM (VALUES 1, 2) AS t(x) ORDER BY x OFFSET 1 ROW LIMIT 1)  =>  2.0
(SELECT grouping(x) FROM (VALUES 1) AS t(x) GROUP BY ROLLUP (x) ORDER BY 1 DESC LIMIT 1)  =>  1.0
sequence(3, 1)  =>  [3.0, 2.0, 1.0]
(SELECT max_by(x, y) FROM (VALUES (NULL, 10), (2, 9)) AS t(x, y))  =>  None
contains(ARRAY[1, NULL], 2)  =>  None
CAST(ROW(1, 'x') AS ROW(a INTEGER, b VARCHAR))  =>  {'a': 1.0, 'b': 'x'}
X'6162' = to_utf8('ab')  =>  refused
""".strip().split("\n")
)
"""Expressions of Trino with its answers."""

SPARK = """
7 div 2
-7 div 2
5 & 3
5 ^ 3
1 == 1
1 <=> NULL
"it's"
'it\\'s'
'a\\tb'
concat("a", 'b')
TRY_CAST('x' AS INT)
CAST(2.9 AS BIGINT)
CAST('2.9' AS DOUBLE)
substring('hello' FROM 2 FOR 3)
instr('abc', 'c')
locate('c', 'abc')
position('c', 'abc')
startswith('abc', 'a')
endswith('abc', 'c')
contains('abc', 'b')
split('a,b', ',')
split('a.b', '[.]')
split('a.b', '\\\\.')
split('a1b', '[0-9]')
split_part('a,b', ',', 2)
left('abc', 2)
right('abc', 2)
repeat('a', 3)
ascii('a')
md5('a')
initcap('hello world')
translate('abc', 'ab', 'xy')
'abc' RLIKE 'b'
regexp_like('abc', 'b')
regexp_replace('abcabc', '(b)', '[$1]')
replace('abc', 'b')
nvl(NULL, 2)
nvl2(NULL, 1, 2)
ifnull(NULL, 2)
if(1 > 2, 'a', 'b')
isnull(NULL)
isnotnull(NULL)
equal_null(NULL, NULL)
datediff(DATE '2020-02-01', DATE '2020-01-01')
datediff('2020-02-01', '2020-01-01')
date_add(DATE '2020-01-31', 1)
date_sub(DATE '2020-01-31', 1)
add_months(DATE '2020-01-31', 1)
last_day(DATE '2020-02-03')
dayofweek(DATE '2020-02-02')
weekday(DATE '2020-02-02')
dayofyear(DATE '2020-02-03')
dayofmonth(DATE '2020-02-03')
weekofyear(DATE '2021-01-01')
extract(DAYOFWEEK FROM DATE '2020-02-02')
extract(DAYOFWEEK_ISO FROM DATE '2020-02-02')
extract(YEAROFWEEK FROM DATE '2021-01-01')
trunc(DATE '2020-02-03', 'MM')
trunc(DATE '2020-02-03', 'year')
date_trunc('MM', TIMESTAMP '2020-02-03 04:05:06')
date_format(DATE '2020-02-03', 'yyyy/MM/dd')
date_format(TIMESTAMP '2020-02-03 14:05:06', 'd.M.yy HH:mm:ss')
date_format(TIMESTAMP '2020-02-03 14:05:06', 'EEEE MMMM')
to_date('2020-02-03')
to_date('03.02.2020', 'dd.MM.yyyy')
make_date(2020, 2, 3)
DATE '2020-02-03' + INTERVAL 1 DAY
DATE '2020-02-03' + INTERVAL '2' MONTH
TIMESTAMP '2020-02-03 04:05:06' + INTERVAL 3 HOURS
months_between(DATE '2020-03-31', DATE '2020-02-29')
array(1, 2)[0]
array(1, 2)
size(array(1, 2))
element_at(array(1, 2), 1)
array_contains(array(1, 2), 2)
array_max(array(1, 3))
array_distinct(array(1, 1))
array_join(array('a', NULL, 'b'), ',')
sequence(1, 3)
transform(array(1, 2), x -> x + 1)
filter(array(1, 2, 3), x -> x > 1)
exists(array(1, 2), x -> x > 1)
aggregate(array(1, 2), 0, (s, x) -> s + x)
map('a', 1)['a']
log(100)
log(2, 8)
ceil(1.2)
floor(-1.2)
bround(2.5)
pmod(-7, 3)
(SELECT collect_list(x) FROM (SELECT * FROM VALUES (1), (NULL) AS t(x)))
(SELECT collect_list(x) FROM (VALUES (1)) AS t(x) WHERE x > 3)
(SELECT size(collect_set(x)) FROM (VALUES (1), (1), (2)) AS t(x))
(SELECT approx_count_distinct(x) FROM (VALUES (1), (1)) AS t(x))
(SELECT any(x) FROM (VALUES (true), (NULL)) AS t(x))
(SELECT min_by(x, y) FROM (VALUES (1, 5), (2, 9)) AS t(x, y))
(SELECT first(x) FROM (VALUES (1)) AS t(x))
(SELECT std(x) FROM (VALUES (1), (2)) AS t(x))
(SELECT percentile(x, 0.5) FROM (VALUES (1), (2)) AS t(x))
(SELECT sum(e) FROM (SELECT explode(array(1, 2)) AS e) AS t)
(SELECT sum(c) FROM (VALUES (array(1, 2))) AS t(a) LATERAL VIEW explode(a) v AS c)
1L
10.5D
X'6162' = CAST('ab' AS BINARY)
left('abc', -1)
array_contains(array(1, NULL), 2)
sequence(3, 1)
CAST('2020-13-01' AS DATE)
CAST(' 12 ' AS INT)
TRY_CAST('2020-13-01' AS DATE)
1 = '1'
upper("a")
(SELECT any_value(x) FROM (VALUES (NULL), (1)) AS t(x))
(SELECT max_by(x, y) FROM (VALUES (NULL, 10), (2, 9)) AS t(x, y))
(SELECT count(*) FROM (SELECT 1 AS x UNION SELECT 2 MINUS SELECT 2) AS t)
(SELECT count(*) FROM (VALUES (1), (2)) AS t(x) LEFT ANTI JOIN (VALUES (2)) AS u(y) ON x = y)
""".strip().split("\n")

POSTGRES = """
'5'::int + 1
5 # 3
'abc' ~ 'b'
'abc' ~* 'B'
'abc' !~ 'b'
'abc' SIMILAR TO 'a_c'
'abc' ILIKE 'A%'
regexp_replace('aaa', 'a', 'b', 'g')
regexp_replace('abc', '(b)', '[\\1]')
substring('abc123' from '[0-9]+')
overlay('abcdef' placing 'xx' from 2 for 2)
position('c' in 'abc')
strpos('abc', 'c')
split_part('a,b', ',', 2)
left('abc', -1)
right('abc', -1)
repeat('a', 3)
initcap('hello world')
translate('abc', 'ab', 'xy')
ascii('a')
chr(97)
md5('a')
btrim('xax', 'x')
trim(both 'x' from 'xax')
starts_with('abc', 'a')
string_to_array('a,b', ',')
array_to_string(ARRAY['a', NULL, 'b'], ',')
array_length(ARRAY[1, 2], 1)
cardinality(ARRAY[1, 2])
ARRAY[1, 2][1]
(ARRAY[1, 2, 3])[2:3]
array_position(ARRAY[1, 2], 2)
array_append(ARRAY[1], 2)
ARRAY[1] || ARRAY[2]
2 = ANY(ARRAY[1, 2])
to_char(TIMESTAMP '2020-02-03 14:05:06', 'YYYY-MM-DD HH24:MI:SS')
to_date('2020-02-03', 'YYYY-MM-DD')
date_part('dow', DATE '2020-02-02')
date_part('isodow', DATE '2020-02-02')
extract(epoch from TIMESTAMP '1970-01-01 00:00:01')
DATE '2020-02-03' - DATE '2020-02-01'
DATE '2020-02-03' + 2
DATE '2020-01-31' + INTERVAL '1 month'
make_date(2020, 2, 3)
'{"a": {"b": 1}}'::json->'a'->>'b'
'{"a": "x"}'::json->>'a'
trunc(-2.7)
trunc(2.789, 2)
round(2.345, 2)
log(100)
log(2, 8)
div(7, 2)
gcd(12, 18)
factorial(5)
width_bucket(5, 0, 10, 5)
(SELECT string_agg(x, ',' ORDER BY x) FROM (VALUES ('b'), ('a')) AS t(x))
(SELECT array_agg(x ORDER BY x DESC) FROM (VALUES (1), (NULL), (2)) AS t(x))
(SELECT bool_and(x) FROM (VALUES (true), (NULL)) AS t(x))
(SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM (VALUES (1), (2)) AS t(x))
(SELECT DISTINCT ON (x) y FROM (VALUES (1, 5), (1, 4)) AS t(x, y) ORDER BY x, y)
(SELECT sum(x) FILTER (WHERE x > 1) FROM (VALUES (1), (2)) AS t(x))
(SELECT sum(g) FROM generate_series(1, 3) AS t(g))
E'a\\tb'
$$it's$$
CAST('abc' AS varchar(2))
""".strip().split("\n")

STATED = {
    "duckdb": ("upper('aß')", "DATE '2020-01-31' + INTERVAL '1' DAY", """'{"a": {"b": 1}}'->'a'"""),
    "postgres": (
        "upper('aß')",
        "round(CAST(2.5 AS DOUBLE PRECISION))",
        "round(CAST(-2.5 AS DOUBLE PRECISION))",
        "DATE '2020-01-31' + INTERVAL '1' DAY",
        "DATE '2020-01-31' + INTERVAL '1 month'",
    ),
}
"""Expressions whose answers differ as docs/how-to/use-dialects.md states."""
