{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by='month') }}

select
    cast(date_trunc('month', orders.ordered_at) as date) as month,
    customers.country,
    cast(sum(orders.amount) as decimal(12, 2)) as revenue
from {{ ref('fct_orders') }} as orders
join {{ ref('stg_customers') }} as customers on customers.customer_id = orders.customer_id
{% if is_incremental() %}
where orders.ordered_at >= (select max(month) from {{ this }})
{% endif %}
group by 1, 2
