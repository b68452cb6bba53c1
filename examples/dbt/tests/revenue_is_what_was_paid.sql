select 1
from (select sum(revenue) as revenue from {{ ref('fct_revenue') }}) as told
cross join (select sum(amount) as amount from {{ ref('fct_orders') }}) as paid
where told.revenue <> paid.amount
