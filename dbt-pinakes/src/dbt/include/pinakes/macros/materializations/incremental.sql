{#- New rows are put into the table by one statement, whatever the strategy: others see all of it or nothing. -#}

{% materialization incremental, adapter='pinakes' %}
  {%- set existing = load_cached_relation(this) -%}
  {%- set target = this.incorporate(type='table') -%}
  {%- set strategy = config.get('incremental_strategy') or ('merge' if config.get('unique_key') else 'append') -%}
  {%- set strategy_sql = adapter.get_incremental_strategy_macro(context, strategy) -%}
  {%- set on_schema_change = incremental_validate_on_schema_change(config.get('on_schema_change'), default='ignore') -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% if existing is none or should_full_refresh() or not existing.is_table %}
    {{ pinakes__build_table(existing, target, sql) }}
  {% else %}
    {% do pinakes__refuse_grants() %}
    {%- set arrivals = pinakes__arrivals(strategy, target, sql) -%}
    {%- set columns = process_schema_changes(on_schema_change, arrivals, existing)
                      or adapter.get_columns_in_relation(existing) -%}
    {% call statement('main') -%}
      {{ strategy_sql({
        'target_relation': target, 'temp_relation': arrivals, 'unique_key': config.get('unique_key'),
        'dest_columns': columns,
        'incremental_predicates': config.get('predicates') or config.get('incremental_predicates'),
      }) }}
    {%- endcall %}
    {% do adapter.drop_relation(arrivals) %}
  {% endif %}

  {% do persist_docs(target, model, for_relation=(existing is not none and existing.is_table)) %}
  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [target]}) }}
{% endmaterialization %}

{#- The model's rows, by a name that only this session knows. Strategies that read them once have a view. MERGE reads its
    source once for the rows that match and once for those that don't: there it is a table, so that both readings are
    the same, whatever the query is. -#}
{% macro pinakes__arrivals(strategy, target, sql) -%}
  {%- set twice = strategy not in ('append', 'insert_overwrite') -%}
  {%- set arrivals = make_temp_relation(target).incorporate(type='table' if twice else 'view') -%}
  {%- if twice -%}
    {% do run_query(get_create_table_as_sql(True, arrivals, sql)) %}
  {%- else -%}
    {% do run_query(pinakes__sql_header() ~ ' create or replace temp view ' ~ arrivals.render() ~ ' as (\n' ~ sql ~ '\n)') %}
  {%- endif -%}
  {{ return(arrivals) }}
{%- endmacro %}
