{#- dbt's own sends COMMIT before hooks that stand outside of a transaction. Nothing is open here, and Pinakes would say so;
    the macro is called by its name, so it is defined anew. -#}
{% macro run_hooks(hooks, inside_transaction=True) -%}
  {%- for hook in hooks | selectattr('transaction', 'equalto', inside_transaction) -%}
    {%- set rendered = render(hook.get('sql')) | trim -%}
    {%- if rendered | length > 0 -%}
      {%- call statement(auto_begin=inside_transaction) -%}
        {{ rendered }}
      {%- endcall -%}
    {%- endif -%}
  {%- endfor -%}
{%- endmacro %}
