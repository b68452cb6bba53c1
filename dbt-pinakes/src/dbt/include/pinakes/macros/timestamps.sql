{#- The time now: stored times have microseconds. -#}

{% macro pinakes__current_timestamp() -%}
  cast(now() as timestamp(6) with time zone)
{%- endmacro %}

{% macro pinakes__snapshot_string_as_time(timestamp) -%}
  {{ return("timestamp '" ~ timestamp ~ "'") }}
{%- endmacro %}

{% macro pinakes__snapshot_get_time() -%}
  cast(now() as timestamp(6))
{%- endmacro %}

{% macro pinakes__current_timestamp_backcompat() -%}
  cast(now() as timestamp(6))
{%- endmacro %}

{% macro pinakes__current_timestamp_in_utc_backcompat() -%}
  cast(now() as timestamp(6))
{%- endmacro %}
