{#- Functions that go by another name here. -#}

{% macro pinakes__safe_cast(field, type) -%}
  try_cast({{ field }} as {{ type }})
{%- endmacro %}

{% macro pinakes__array_concat(array_1, array_2) -%}
  array_concat({{ array_1 }}, {{ array_2 }})
{%- endmacro %}

{% macro pinakes__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {%- if limit_num -%}
    array_to_string(
      array_slice(array_agg({{ measure }} {{ order_by_clause if order_by_clause }}), 1, {{ limit_num }}),
      {{ delimiter_text }}
    )
  {%- else -%}
    string_agg({{ measure }}, {{ delimiter_text }} {{ order_by_clause if order_by_clause }})
  {%- endif -%}
{%- endmacro %}

{% macro pinakes__type_numeric() -%}
  decimal(28,6)
{%- endmacro %}

{% macro pinakes__type_int() -%}
  bigint
{%- endmacro %}

{% macro pinakes__type_float() -%}
  double
{%- endmacro %}
