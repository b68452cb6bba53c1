select
    id as order_id,
    customer_id,
    cast(ordered_at as timestamp(6)) as ordered_at,
    status
from {{ source('shop', 'orders') }}
