{#- A view is made or replaced by one statement, a table that has its name excepted. -#}

{% materialization view, adapter='pinakes' %}
  {%- set existing = load_cached_relation(this) -%}
  {%- set target = this.incorporate(type='view') -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}
  {% do pinakes__refuse_grants() %}

  {% if existing is not none and not existing.is_view %}
    {%- set beside = make_intermediate_relation(target) -%}
    {% call statement('main') -%}
      {{ get_create_view_as_sql(beside, sql) }}
    {%- endcall %}
    {% do pinakes__take_place(existing, beside, target) %}
  {% else %}
    {% call statement('main') -%}
      {{ get_create_view_as_sql(target, sql) }}
    {%- endcall %}
  {% endif %}

  {% do persist_docs(target, model) %}
  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [target]}) }}
{% endmaterialization %}
