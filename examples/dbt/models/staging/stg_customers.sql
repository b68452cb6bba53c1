select
    customers.id as customer_id,
    customers.name,
    countries.name as country,
    customers.changed_at
from {{ source('crm', 'customers') }} as customers
left join {{ ref('countries') }} as countries on countries.code = customers.country
