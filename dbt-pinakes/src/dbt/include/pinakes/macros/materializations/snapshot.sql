{#- Snapshots are dbt's own, with the rows that changed in a table of the session. -#}

{% macro pinakes__post_snapshot(staging_relation) -%}
  {% do adapter.drop_relation(staging_relation.incorporate(type='table')) %}
{%- endmacro %}
