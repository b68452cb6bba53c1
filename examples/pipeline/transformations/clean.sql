-- Orders are added as they come; what can't be an order is left out, and counted.
CREATE STREAMING TABLE orders (
  CONSTRAINT positive_quantity EXPECT (quantity > 0) ON VIOLATION DROP ROW,
  CONSTRAINT has_customer EXPECT (customer_id IS NOT NULL) ON VIOLATION DROP ROW
)
PARTITIONED BY (months(ordered_at))
COMMENT 'Orders that are whole'
AS
SELECT order_id, customer_id, lower(trim(product)) AS product, quantity, price, ordered_at,
       CAST(quantity * price AS DECIMAL(18, 2)) AS amount
FROM STREAM raw_orders;

CREATE MATERIALIZED VIEW customers (
  CONSTRAINT has_country EXPECT (length(country) = 2) ON VIOLATION FAIL UPDATE
) AS
SELECT customer_id, max(name) AS name, max(upper(country)) AS country FROM raw_customers GROUP BY customer_id;

CREATE TEMPORARY VIEW sales AS
SELECT o.*, c.country FROM orders o LEFT JOIN customers c USING (customer_id);
