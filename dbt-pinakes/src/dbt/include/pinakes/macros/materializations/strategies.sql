{#- What an incremental model does with its rows: each strategy is one statement, and so one commit. -#}

{% macro pinakes__get_incremental_default_sql(arg_dict) -%}
  {{ return(get_incremental_merge_sql(arg_dict) if arg_dict['unique_key'] else get_incremental_append_sql(arg_dict)) }}
{%- endmacro %}

{% macro pinakes__get_incremental_insert_overwrite_sql(arg_dict) -%}
  {#- The partitions that rows arrive for are replaced; of a table without partitions all of it is. -#}
  {%- set columns = get_quoted_csv(arg_dict['dest_columns'] | map(attribute='name')) -%}
  insert overwrite {{ arg_dict['target_relation'].render() }} ({{ columns }})
  select {{ columns }} from {{ arg_dict['temp_relation'].render() }}
{%- endmacro %}

{% macro pinakes__get_delete_insert_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) -%}
  {%- set keys = adapter.as_list(unique_key) -%}
  {%- if not keys -%}
    {{ get_insert_into_sql(target, source, dest_columns) }}
  {%- else -%}
    {%- set matches = [] -%}
    {%- for key in keys -%}
      {%- do matches.append('DBT_INTERNAL_DEST.' ~ key ~ ' = DBT_INTERNAL_SOURCE.dbt_key_' ~ loop.index) -%}
    {%- endfor -%}
    {%- set doomed -%}
      select distinct
      {%- for key in keys %} {{ key }} as dbt_key_{{ loop.index }}{{ ',' if not loop.last }}{% endfor %} from {{ source.render() }}
    {%- endset -%}
    {{ pinakes__replace_rows(target, source, dest_columns, doomed, keys | length,
                             matches + (incremental_predicates or [])) }}
  {%- endif -%}
{%- endmacro %}

{% macro pinakes__get_incremental_microbatch_sql(arg_dict) -%}
  {#- The rows of the batch's time go, those that arrive come. A text is read as the type of the column it is compared
      with: times without a zone are of UTC, as dbt's batches are. -#}
  {%- set event_time = config.get('event_time') -%}
  {%- set within = [] -%}
  {%- if model.batch and model.batch.event_time_start -%}
    {%- do within.append('DBT_INTERNAL_DEST.' ~ event_time ~ ' >= ' ~ "'" ~ model.batch.event_time_start ~ "'") -%}
  {%- endif -%}
  {%- if model.batch and model.batch.event_time_end -%}
    {%- do within.append('DBT_INTERNAL_DEST.' ~ event_time ~ ' < ' ~ "'" ~ model.batch.event_time_end ~ "'") -%}
  {%- endif -%}
  {{ pinakes__replace_rows(arg_dict['target_relation'], arg_dict['temp_relation'], arg_dict['dest_columns'],
                           'select true as dbt_key_1', 1, within + (arg_dict['incremental_predicates'] or [])) }}
{%- endmacro %}

{#- Rows of the target that match go, rows of the source come, in one MERGE. Its source has both: keys of rows that go
    (dbt_goes), and rows that come, which match nothing. The columns are named so that a predicate without a table's
    name means the target. -#}
{% macro pinakes__replace_rows(target, source, dest_columns, doomed, key_count, conditions) -%}
  {%- set columns = dest_columns | map(attribute='quoted') | list -%}
  merge into {{ target.render() }} as DBT_INTERNAL_DEST
  using (
    select true as dbt_goes, doomed.*,
    {%- for column in dest_columns %} null as dbt_value_{{ loop.index }}{{ ',' if not loop.last }}{% endfor %}
    from ({{ doomed }}) as doomed
    union all
    select false,
    {%- for _ in range(key_count) %} null,{% endfor %}
    {%- for column in columns %} {{ column }}{{ ',' if not loop.last }}{% endfor %}
    from {{ source.render() }}
  ) as DBT_INTERNAL_SOURCE
  on DBT_INTERNAL_SOURCE.dbt_goes{% for condition in conditions %} and ({{ condition }}){% endfor %}
  when matched then delete
  when not matched and not DBT_INTERNAL_SOURCE.dbt_goes then insert ({{ columns | join(', ') }})
  values ({% for column in columns %}DBT_INTERNAL_SOURCE.dbt_value_{{ loop.index }}{{ ', ' if not loop.last }}{% endfor %})
{%- endmacro %}
