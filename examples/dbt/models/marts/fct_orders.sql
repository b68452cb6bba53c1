{{ config(materialized='incremental', unique_key='order_id', partition_by='month(ordered_at)', sort_by='order_id') }}

with latest as (
    select *
    from {{ ref('stg_orders') }}
    {% if is_incremental() %}
    where ordered_at >= (select max(ordered_at) from {{ this }})
    {% endif %}
),

paid as (
    select order_id, sum(amount) as amount
    from {{ ref('stg_payments') }}
    group by order_id
)

select latest.order_id, latest.customer_id, latest.ordered_at, latest.status, cast(paid.amount as decimal(12, 2)) as amount
from latest
left join paid on paid.order_id = latest.order_id
