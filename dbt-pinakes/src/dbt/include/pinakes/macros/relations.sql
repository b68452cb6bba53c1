{#- Making, replacing, renaming and dropping tables and views. Each statement is one commit: what has a final name is
    whole, whatever fails. -#}

{% macro pinakes__create_schema(relation) -%}
  {%- call statement('create_schema') -%}
    create schema if not exists {{ relation.without_identifier().render() }}
  {%- endcall -%}
{%- endmacro %}

{% macro pinakes__create_table_as(temporary, relation, compiled_code) -%}
  {%- set contract = config.get('contract') -%}
  {%- set enforced = contract and contract.enforced and not temporary -%}
  {%- if enforced -%}{{ get_assert_columns_equivalent(compiled_code) }}{%- endif -%}
  {{ pinakes__sql_header() }}
  create or replace {{ 'temp' if temporary }} table {{ relation.render() }}
  {%- if enforced %}
  {{ get_table_columns_and_constraints() }}
  {%- set compiled_code = get_select_subquery(compiled_code) -%}
  {%- endif %}
  {%- if not temporary %}{{ pinakes__table_clauses() }}{% endif %}
  as (
    {{ compiled_code }}
  )
{%- endmacro %}

{% macro pinakes__create_view_as(relation, sql) -%}
  {%- set contract = config.get('contract') -%}
  {%- if contract and contract.enforced -%}{{ get_assert_columns_equivalent(sql) }}{%- endif -%}
  {{ pinakes__sql_header() }}
  create or replace {{ 'temp' if relation.is_temporary }} view {{ relation.render() }} as (
    {{ sql }}
  )
{%- endmacro %}

{% macro pinakes__sql_header() -%}
  {%- set header = config.get('sql_header', none) -%}
  {%- if header is not none -%}
    {{ header }}{{ ';' if not header.rstrip().endswith(';') }}
  {%- endif -%}
{%- endmacro %}

{% macro pinakes__table_clauses() -%}
  {%- set partitioning = adapter.as_list(config.get('partition_by')) -%}
  {%- set sorting = adapter.as_list(config.get('sort_by')) -%}
  {%- set properties = config.get('properties') or {} -%}
  {%- if partitioning %}
  partitioned by ({{ partitioning | join(', ') }})
  {%- endif %}
  {%- if sorting %}
  sorted by ({{ sorting | join(', ') }})
  {%- endif %}
  {%- if config.persist_relation_docs() and model.description %}
  comment {{ dbt.string_literal(model.description | replace("'", "''")) }}
  {%- endif %}
  {%- if properties %}
  with (
    {%- for name, value in properties.items() %}
    {{ dbt.string_literal(name) }} = {{ dbt.string_literal((value | string) | replace("'", "''")) }}{{ ',' if not loop.last }}
    {%- endfor %}
  )
  {%- endif %}
{%- endmacro %}

{#- --- by name ----------------------------------------------------------------------------------------------------- -#}

{% macro pinakes__get_rename_table_sql(relation, new_name) -%}
  alter table {{ relation.render() }} rename to {{ adapter.quote(new_name) }}
{%- endmacro %}

{% macro pinakes__get_rename_view_sql(relation, new_name) -%}
  alter view {{ relation.render() }} rename to {{ adapter.quote(new_name) }}
{%- endmacro %}

{% macro pinakes__rename_relation(from_relation, to_relation) -%}
  {%- call statement('rename_relation') -%}
    {{ get_rename_sql(from_relation, to_relation.identifier) }}
  {%- endcall -%}
{%- endmacro %}

{% macro pinakes__get_replace_table_sql(relation, sql) -%}
  {{ get_create_table_as_sql(False, relation, sql) }}
{%- endmacro %}

{% macro pinakes__get_replace_view_sql(relation, sql) -%}
  {{ get_create_view_as_sql(relation, sql) }}
{%- endmacro %}

{% macro pinakes__drop_table(relation) -%}
  drop table if exists {{ relation.render() }}
{%- endmacro %}

{% macro pinakes__drop_view(relation) -%}
  drop view if exists {{ relation.render() }}
{%- endmacro %}

{#- What a statement of a model works with goes where only the session sees it: two runs on one target are not in each
    other's way, and what fails leaves nothing behind. -#}
{% macro pinakes__make_temp_relation(base_relation, suffix) -%}
  {{ return(default__make_temp_relation(base_relation, suffix).temporary()) }}
{%- endmacro %}

{% macro pinakes__make_intermediate_relation(base_relation, suffix) -%}
  {#- The run is part of the name: another run that builds the same model at the same time has another one. -#}
  {{ return(default__make_temp_relation(base_relation, suffix ~ '_' ~ invocation_id.split('-')[0])) }}
{%- endmacro %}

{% macro pinakes__make_backup_relation(base_relation, backup_relation_type, suffix) -%}
  {{ return(default__make_backup_relation(base_relation, backup_relation_type, suffix ~ '_' ~ invocation_id.split('-')[0])) }}
{%- endmacro %}

{% macro pinakes__copy_grants() -%}
  {{ return(False) }}
{%- endmacro %}

{% macro pinakes__apply_grants(relation, grant_config, should_revoke=True) -%}
  {%- if grant_config -%}
    {{ exceptions.raise_compiler_error(
      "grants are configured for " ~ relation ~ ", and Pinakes has no GRANT: rights are those of the catalog that a "
      ~ "table is in. Take `grants` out of the model's configuration, and give the rights there.") }}
  {%- endif -%}
{%- endmacro %}
