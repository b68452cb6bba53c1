select
    customers.customer_id,
    customers.name,
    customers.country,
    count(orders.order_id) as orders
from {{ ref('stg_customers') }} as customers
left join {{ ref('stg_orders') }} as orders on orders.customer_id = customers.customer_id
group by customers.customer_id, customers.name, customers.country
