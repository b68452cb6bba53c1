{#- A seed's rows are sent in one stream into a table of the session, and put in place by one statement: the seed is
    never there without its rows. -#}

{% materialization seed, adapter='pinakes' %}
  {%- set existing = load_cached_relation(this) -%}
  {%- set target = this.incorporate(type='table') -%}
  {%- set rows = load_agate_table() -%}
  {%- do store_result('agate_table', response='OK', agate_table=rows) -%}
  {%- set full_refresh = should_full_refresh() -%}

  {% if existing is not none and not existing.is_table %}
    {{ exceptions.raise_compiler_error("Cannot seed to '{}', it is a view".format(existing.render())) }}
  {% endif %}
  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}
  {% do pinakes__refuse_grants() %}

  {%- set arrived = make_temp_relation(target).incorporate(type='table') -%}
  {%- if rows.rows | length > 0 -%}
    {% do adapter.ingest(arrived, rows) %}
  {%- endif -%}
  {%- set fresh = existing is none or full_refresh -%}
  {%- set seed_sql = pinakes__create_seed(target, rows, arrived) if fresh else pinakes__refill_seed(target, rows, arrived) -%}
  {% do run_query(seed_sql) %}
  {%- if rows.rows | length > 0 -%}
    {% do adapter.drop_relation(arrived) %}
  {%- endif -%}
  {%- set code = 'CREATE' if fresh else 'INSERT' -%}
  {%- set count = rows.rows | length -%}
  {% call noop_statement('main', code ~ ' ' ~ count, code, count) %}
    {{ seed_sql }}
  {% endcall %}

  {% do persist_docs(target, model) %}
  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [target]}) }}
{% endmaterialization %}

{% macro pinakes__create_seed(target, rows, arrived) -%}
  create or replace table {{ target.render() }} {{ pinakes__table_clauses() }}
  as (
    {{ pinakes__seed_rows(rows, arrived) }}
  )
{%- endmacro %}

{% macro pinakes__refill_seed(target, rows, arrived) -%}
  {%- set columns = get_seed_column_quoted_csv(model, rows.column_names) -%}
  insert overwrite {{ target.render() }} ({{ columns }})
  {{ pinakes__seed_rows(rows, arrived) }}
{%- endmacro %}

{% macro pinakes__seed_rows(rows, arrived) -%}
  {%- set types = model['config'].get('column_types', {}) -%}
  {%- set quoting = model['config'].get('quote_columns', none) -%}
  {%- set some = rows.rows | length > 0 -%}
  select
  {%- for name in rows.column_names %}
    cast({{ 'c' ~ loop.index0 if some else 'null' }} as {{ types.get(name, adapter.convert_type(rows, loop.index0)) }})
    as {{ adapter.quote_seed_column(name | string, quoting) }}{{ ',' if not loop.last }}
  {%- endfor %}
  {%- if some %}
  from {{ arrived.render() }}
  {%- else %}
  where false
  {%- endif %}
{%- endmacro %}
