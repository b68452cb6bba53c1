{#- A table is built and put in place by one statement. Only a view that has its name needs more: the table is built
    beside it, and takes its name when it is whole. -#}

{% materialization table, adapter='pinakes' %}
  {%- set existing = load_cached_relation(this) -%}
  {%- set target = this.incorporate(type='table') -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {{ pinakes__build_table(existing, target, sql) }}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {% do apply_grants(target, config.get('grants')) %}
  {% do persist_docs(target, model, for_relation=False) %}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [target]}) }}
{% endmaterialization %}

{% macro pinakes__build_table(existing, target, sql) -%}
  {% do pinakes__refuse_grants() %}
  {% if existing is not none and not existing.is_table %}
    {%- set beside = make_intermediate_relation(target) -%}
    {% call statement('main') -%}
      {{ get_create_table_as_sql(False, beside, sql) }}
    {%- endcall %}
    {% do pinakes__take_place(existing, beside, target) %}
  {% else %}
    {% call statement('main') -%}
      {{ get_create_table_as_sql(False, target, sql) }}
    {%- endcall %}
  {% endif %}
{%- endmacro %}

{#- What is whole and beside gets the name. -#}
{% macro pinakes__take_place(existing, beside, target) -%}
  {% do adapter.drop_relation(existing) %}
  {% do adapter.cache_added(beside) %}
  {% do adapter.rename_relation(beside, target) %}
{%- endmacro %}

{#- Before anything is built, so that nobody finds a table without the rights that its model speaks of. -#}
{% macro pinakes__refuse_grants() -%}
  {% do apply_grants(this, config.get('grants')) %}
{%- endmacro %}
