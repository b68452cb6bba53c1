{#- What there is: schemas, relations, columns, catalogs for the docs. Every query names the schemas or the relations
    that are wanted, so the server asks its catalogs for those alone. -#}

{% macro pinakes__list_schemas(database) -%}
  {#- One call: what lies within a schema is not asked for, and is made if it is missing. dbt gives the name in quotes. -#}
  {{ return(run_query('show schemas in ' ~ adapter.quote(database.strip('"')))) }}
{%- endmacro %}

{% macro pinakes__check_schema_exists(information_schema, schema) -%}
  {% set sql -%}
    select count(*) from {{ adapter.quote(information_schema.database) }}.information_schema.schemata
    where schema_name = {{ dbt.string_literal(schema) }}
  {%- endset %}
  {{ return(run_query(sql)) }}
{%- endmacro %}

{% macro pinakes__list_relations_without_caching(schema_relation) -%}
  {% set sql -%}
    select table_catalog, table_name, table_schema, case table_type when 'VIEW' then 'view' else 'table' end
    from {{ adapter.quote(schema_relation.database) }}.information_schema.tables
    where table_schema = {{ dbt.string_literal(schema_relation.schema) }}
  {%- endset %}
  {{ return(run_query(sql)) }}
{%- endmacro %}

{% macro pinakes__list_function_relations_without_caching(schema_relation) -%}
  {#- Catalogs hold no functions. -#}
  {{ return([]) }}
{%- endmacro %}

{% macro pinakes__get_columns_in_relation(relation) -%}
  {% set sql -%}
    select column_name, data_type
    from {{ adapter.quote(relation.database) }}.information_schema.columns
    where table_schema = {{ dbt.string_literal(relation.schema) }}
      and table_name = {{ dbt.string_literal(relation.identifier) }}
    order by ordinal_position
  {%- endset %}
  {{ return(sql_convert_columns_in_relation(run_query(sql))) }}
{%- endmacro %}

{#- --- for the docs ------------------------------------------------------------------------------------------------ -#}

{% macro pinakes__get_catalog(information_schema, schemas) -%}
  {% set names = [] %}
  {% for schema in schemas %}{% do names.append(dbt.string_literal(schema)) %}{% endfor %}
  {{ return(run_query(pinakes__catalog_sql(information_schema.database, pinakes__in_schemas(names)))) }}
{%- endmacro %}

{% macro pinakes__get_catalog_relations(information_schema, relations) -%}
  {{ return(run_query(pinakes__catalog_sql(information_schema.database, pinakes__in_relations(relations)))) }}
{%- endmacro %}

{% macro pinakes__in_schemas(names) -%}
  {{ return({'information_schema': 'table_schema in (' ~ names | join(', ') ~ ')',
             'system': 'schema_name in (' ~ names | join(', ') ~ ')'}) }}
{%- endmacro %}

{% macro pinakes__in_relations(relations) -%}
  {% set pairs = [] %}
  {% for relation in relations %}
    {% do pairs.append('(' ~ dbt.string_literal(relation.schema) ~ ', ' ~ dbt.string_literal(relation.identifier) ~ ')') %}
  {% endfor %}
  {% set wanted = 'in (' ~ pairs | join(', ') ~ ')' %}
  {{ return({'information_schema': '(table_schema, table_name) ' ~ wanted,
             'system': '(schema_name, table_name) ' ~ wanted}) }}
{%- endmacro %}

{% macro pinakes__catalog_sql(database, wanted) -%}
  with tables as (
    select table_schema, table_name, case table_type when 'VIEW' then 'view' else 'table' end as table_type
    from {{ adapter.quote(database) }}.information_schema.tables
    where {{ wanted['information_schema'] }}
  ),
  comments as (
    select schema_name, table_name, comment
    from system.metadata.table_comments
    where catalog_name = {{ dbt.string_literal(database) }} and {{ wanted['system'] }}
  ),
  columns as (
    select table_schema, table_name, column_name, ordinal_position, data_type, comment
    from {{ adapter.quote(database) }}.information_schema.columns
    where {{ wanted['information_schema'] }}
  )
  select
    {{ dbt.string_literal(database) }} as table_database,
    tables.table_schema as table_schema,
    tables.table_name as table_name,
    tables.table_type as table_type,
    comments.comment as table_comment,
    columns.column_name as column_name,
    columns.ordinal_position as column_index,
    columns.data_type as column_type,
    columns.comment as column_comment,
    cast(null as varchar) as table_owner
  from tables
  join columns on columns.table_schema = tables.table_schema and columns.table_name = tables.table_name
  left join comments on comments.schema_name = tables.table_schema and comments.table_name = tables.table_name
  order by table_schema, table_name, column_index
{%- endmacro %}

{#- --- freshness --------------------------------------------------------------------------------------------------- -#}

{% macro pinakes__get_relation_last_modified(information_schema, relations) -%}
  {%- call statement('last_modified', fetch_result=True) -%}
    select
      schema_name as schema,
      table_name as identifier,
      max(committed_at) as last_modified,
      {{ current_timestamp() }} as snapshotted_at
    from system.iceberg.snapshots
    where catalog_name = {{ dbt.string_literal(information_schema.database) }}
      and {{ pinakes__in_relations(relations)['system'] }}
    group by schema_name, table_name
  {%- endcall -%}
  {{ return(load_result('last_modified')) }}
{%- endmacro %}
