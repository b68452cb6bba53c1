"""Expressions over the table `p` (`support.py`) that both engines are asked for, or that must be refused."""

from __future__ import annotations

ALIKE = """
i / 2
l / 3
i % 3
l % 4
i + l
i * 2
i - 3
-i
abs(i)
abs(x)
abs(q)
q / 3
q / CAST(0.7 AS DECIMAL(3,1))
q / (q + 100) * 2
q * q
q + 1
q - i
q * 1.5
x / 4
x * i
7 / 2
-7 / 2
7 % -3
7.0 / 2
1 + 1
i / 2 * 2
(i + 1) / 2
CAST(i AS BIGINT) / 7
CAST(q AS INT)
CAST(q AS DECIMAL(10,1))
CAST(q AS DOUBLE)
CAST(x / 10 AS INT)
CAST(i AS VARCHAR)
CAST(q AS VARCHAR)
CAST(d AS VARCHAR)
CAST(b AS VARCHAR)
CAST('12' AS INT)
CAST('1.50' AS DECIMAL(5,1))
CAST('2024-05-06' AS DATE)
CAST(ts AS DATE)
CAST(d AS TIMESTAMP)
TRY_CAST(s AS INT)
lower(s)
upper(s)
length(s)
char_length(s)
character_length(s)
octet_length(s)
bit_length(s)
reverse(s)
trim(s)
btrim(s)
ltrim(s)
rtrim(s)
trim(LEADING ' ' FROM s)
trim(BOTH 'H' FROM s)
replace(s, 'l', 'LL')
replace(s, ',', '')
translate(s, 'abc', 'xyz')
repeat(s, 2)
left(s, 3)
right(s, 3)
lpad(s, 8, '*')
rpad(s, 8, '*')
lpad(s, 3)
substr(s, 2)
substr(s, 2, 3)
substring(s FROM 2 FOR 3)
substring(s, 3)
split_part(s, ',', 2)
split_part(s, ' ', 1)
strpos(s, 'o')
position('o' IN s)
starts_with(s, 'H')
ends_with(s, 'd')
contains(s, 'o')
s LIKE '%o%'
s LIKE 'H_llo%'
s ILIKE 'h%'
s NOT LIKE '%o%'
s || '!'
s || i
concat(s, '-', i)
concat(s, NULL)
concat_ws('/', s, 'x')
md5(s)
sha256(s)
sha512(s)
to_hex(l)
chr(65)
levenshtein(s, 'Hello')
regexp_like(s, '^H')
regexp_like(s, 'o W')
regexp_like(s, 'd$')
regexp_like(s, 'HELLO', 'i')
regexp_replace(s, 'l', 'L')
regexp_replace(s, 'l+', 'L', 'g')
regexp_replace(s, '[a-c]', '.', 'g')
s ~ 'l+o'
ceil(x)
floor(x)
ceil(i)
round(x)
round(i)
round(q)
round(q, 1)
d + 5
d - 400
round(q / 3, 2)
sqrt(abs(x))
cbrt(x)
exp(x / 1e10)
ln(abs(x) + 1)
log10(abs(x) + 1)
log2(abs(x) + 1)
power(i, 2)
pow(abs(x), 0.5)
sin(x)
cos(x)
tan(x)
atan(x)
asin(x / 1e11)
acos(x / 1e11)
atan2(x, 2.0)
sinh(x / 1e10)
cosh(x / 1e10)
tanh(x)
degrees(x)
radians(x)
signum(x)
signum(i)
pi()
isnan(x)
nanvl(x, 1.0)
factorial(5)
coalesce(i, 0)
coalesce(q, 0)
coalesce(q, 1.5)
coalesce(s, 'none')
nvl(l, 1)
ifnull(s, '-')
nullif(i, 0)
nullif(s, '')
greatest(i, 3)
least(i, 3, l)
greatest(x, 1)
CASE WHEN i > 0 THEN 'p' WHEN i < 0 THEN 'n' ELSE 'z' END
CASE i WHEN 1 THEN 10 WHEN 5 THEN 50 END
CASE WHEN b THEN q ELSE 0 END
CASE WHEN b THEN 1 ELSE 2.5 END
CASE WHEN q > 0.05 THEN 1 ELSE 0 END
q > 0.04 + 0.01
q = 1.25
q BETWEEN 0.05 AND 1.25
i BETWEEN -7 AND 1
i IN (1, 5, NULL)
s IN ('', 'Hello World')
i NOT IN (1, 5)
i = 1 OR b
NOT b
b AND i > 0
i IS NULL
s IS NOT NULL
b IS TRUE
b IS NOT FALSE
i IS DISTINCT FROM l
i IS NOT DISTINCT FROM 0
i <> 1
x >= 0.5
extract(YEAR FROM d)
extract(MONTH FROM d)
extract(DAY FROM d)
extract(QUARTER FROM d)
extract(WEEK FROM d)
extract(DOW FROM d)
extract(DOY FROM d)
extract(HOUR FROM ts)
extract(MINUTE FROM ts)
extract(YEAR FROM ts)
date_part('dow', ts)
date_part('month', d)
date_trunc('month', d)
date_trunc('year', ts)
date_trunc('day', ts)
date_trunc('hour', ts)
date_trunc('week', d)
date_trunc('quarter', ts)
d + INTERVAL '1 month'
d - INTERVAL '1 day'
d + INTERVAL '1' YEAR
d + INTERVAL '2 weeks'
ts + INTERVAL '1 hour'
ts - INTERVAL '30 minutes'
d - DATE '2024-01-01'
d > DATE '2000-01-01'
d = '2024-01-07'
ts >= TIMESTAMP '2000-01-01 00:00:00'
make_date(2024, 2, 29)
(SELECT max(i) FROM p)
row_number() OVER (ORDER BY i)
rank() OVER (ORDER BY b)
dense_rank() OVER (ORDER BY b DESC)
ntile(2) OVER (ORDER BY i)
percent_rank() OVER (ORDER BY i)
cume_dist() OVER (ORDER BY i)
lag(s) OVER (ORDER BY i)
lead(i, 2) OVER (ORDER BY i)
first_value(s) OVER (ORDER BY i)
last_value(i) OVER (ORDER BY i)
sum(i) OVER (ORDER BY i)
avg(q) OVER (PARTITION BY b)
avg(i) OVER ()
count(*) OVER (PARTITION BY b)
max(s) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
""".strip().splitlines()

AGGREGATES = """
count(*)
count(s)
count(DISTINCT b)
sum(i)
sum(l)
sum(q)
sum(x)
sum(DISTINCT i)
avg(i)
avg(q)
avg(x)
avg(DISTINCT q)
min(s)
max(d)
min(ts)
max(q)
sum(i) FILTER (WHERE i > 0)
avg(q) FILTER (WHERE b)
sum(q) / count(q)
sum(q) / sum(i)
stddev(x)
stddev_pop(i)
var_samp(i)
var_pop(x)
corr(x, i)
covar_samp(x, i)
covar_pop(x, i)
median(i)
median(x)
bool_and(b)
bool_or(b)
string_agg(s, ',' ORDER BY s)
""".strip().splitlines()

REFUSED = """
extract(SECOND FROM ts)
ts + INTERVAL '7 days 01:02:03.5'
initcap(s)
round(x, 2)
trunc(x)
random()
uuid()
arrow_typeof(i)
to_char(d, '%Y')
date_bin(INTERVAL '1 day', ts)
to_timestamp(s)
array_agg(i)
approx_distinct(i)
s ~* 'h'
s !~ 'h'
i & 1
regexp_like(s, '\\d')
regexp_replace(s, '(l)', '[$1]')
substr(s, 0, 2)
left(s, -1)
replace(s, '', 'x')
CAST(x AS VARCHAR)
CAST(ts AS VARCHAR)
s = 1
extract(EPOCH FROM ts)
ts - TIMESTAMP '2024-01-01 00:00:00'
chr(i)
first_value(s)
string_agg(s, ',')
lpad(s, i, '*')
concat(x, 'a')
to_hex(i) || x
ascii(s)
split_part(s, ',', -1)
""".strip().splitlines()
