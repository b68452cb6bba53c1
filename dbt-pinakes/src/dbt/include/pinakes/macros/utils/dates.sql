{#- Arithmetic of dates and times. -#}

{% macro pinakes__date(year, month, day) -%}
  date '{{ modules.datetime.date(year, month, day).isoformat() }}'
{%- endmacro %}

{% macro pinakes__dateadd(datepart, interval, from_date_or_timestamp) -%}
  {%- set months = {'year': 12, 'quarter': 3} -%}
  {%- set part, count = ('month', '(' ~ interval ~ ') * ' ~ months[datepart]) if datepart in months else (datepart, interval) -%}
  (cast({{ from_date_or_timestamp }} as timestamp) + cast(cast({{ count }} as varchar) || ' {{ part }}' as interval))
{%- endmacro %}

{#- How many borders of that part lie between: one second may be a year, as dbt has it. -#}
{% macro pinakes__datediff(first_date, second_date, datepart) -%}
  {%- set micros = {'microsecond': 1, 'millisecond': 1000, 'second': 1000000, 'minute': 60000000, 'hour': 3600000000,
                    'day': 86400000000, 'week': 604800000000} -%}
  {%- set months = {'month': 12, 'quarter': 4} -%}
  {%- set part = datepart | lower -%}
  {%- set years = pinakes__part('year', second_date) ~ ' - ' ~ pinakes__part('year', first_date) -%}
  {%- if part == 'year' -%}
    ({{ years }})
  {%- elif part in months -%}
    (({{ years }}) * {{ months[part] }} + {{ pinakes__part(part, second_date) }} - {{ pinakes__part(part, first_date) }})
  {%- elif part in micros -%}
    (({{ pinakes__micros(part, second_date) }} - {{ pinakes__micros(part, first_date) }}) / {{ micros[part] }})
  {%- else -%}
    {{ exceptions.raise_compiler_error("datediff knows no part '" ~ datepart ~ "'") }}
  {%- endif -%}
{%- endmacro %}

{% macro pinakes__part(part, moment) -%}
  date_part('{{ part }}', cast({{ moment }} as timestamp))
{%- endmacro %}

{% macro pinakes__micros(part, moment) -%}
  cast(cast(date_trunc('{{ part }}', cast({{ moment }} as timestamp)) as timestamp(6)) as bigint)
{%- endmacro %}

{% macro pinakes__last_day(date, datepart) -%}
  {%- if datepart == 'quarter' -%}
    cast({{ dbt.dateadd('day', '-1', dbt.dateadd('month', '3', dbt.date_trunc(datepart, date))) }} as date)
  {%- else -%}
    {{ dbt.default_last_day(date, datepart) }}
  {%- endif -%}
{%- endmacro %}
