{#- Changing the columns of a table that is there, and comments. -#}

{#- A type that only gets wider is changed in the metadata; for any other the rows are written anew, in one commit. -#}
{% macro pinakes__alter_column_type(relation, column_name, new_column_type) -%}
  {%- set columns = adapter.get_columns_in_relation(relation) -%}
  {%- set column = (columns | selectattr('name', 'equalto', column_name) | list
                    or columns | selectattr('name', 'equalto', column_name | lower) | list) | first -%}
  {%- if execute and not column -%}
    {{ exceptions.raise_compiler_error(relation.render() ~ ' has no column ' ~ column_name) }}
  {%- endif -%}
  {%- call statement('alter_column_type') -%}
  {%- if column and column.can_become(new_column_type) -%}
    alter table {{ relation.render() }} alter column {{ column.quoted }} type {{ new_column_type }}
  {%- else -%}
    create or replace table {{ relation.render() }} {{ pinakes__table_clauses() }} as (
      select
      {%- for each in columns %}
        {{ 'cast(' ~ each.quoted ~ ' as ' ~ new_column_type ~ ') as ' ~ each.quoted if column and each.name == column.name else each.quoted }}
        {{- ',' if not loop.last }}
      {%- endfor %}
      from {{ relation.render() }}
    )
  {%- endif -%}
  {%- endcall -%}
{%- endmacro %}

{% macro pinakes__alter_relation_comment(relation, relation_comment) -%}
  comment on {{ 'view' if relation.is_view else 'table' }} {{ relation.render() }}
  is {{ dbt.string_literal(relation_comment | replace("'", "''")) }}
{%- endmacro %}

{% macro pinakes__alter_column_comment(relation, column_dict) -%}
  {%- set existing = adapter.get_columns_in_relation(relation) | map(attribute='name') | list -%}
  {%- set commented = [] -%}
  {%- for name in existing -%}
    {%- set column = column_dict.get(name) or column_dict.get(name | lower) -%}
    {%- if column and column['description'] -%}
      {%- do commented.append((name, column['description'])) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name, description in commented %}
    comment on column {{ relation.render() }}.{{ adapter.quote(name) }} is {{ dbt.string_literal(description | replace("'", "''")) }};
  {%- endfor -%}
{%- endmacro %}

{#- A contract's integer may be narrower or wider than the query's, since a number in SQL is a bigint here: the table has
    the contract's type, and a value that does not fit it is an error. -#}
{% macro pinakes__format_column(column) -%}
  {%- set kind = 'integer' if column.is_integer() else column.dtype -%}
  {{ return({'name': column.name, 'data_type': column.dtype, 'formatted': column.column.lower() ~ ' ' ~ kind}) }}
{%- endmacro %}
