CREATE SCHEMA IF NOT EXISTS crm.people;

CREATE OR REPLACE TABLE crm.people.customers (
  id BIGINT NOT NULL,
  name VARCHAR,
  country VARCHAR,
  changed_at TIMESTAMP
) AS SELECT * FROM (VALUES
  (1, 'Ada', 'GB', '2024-01-01 00:00:00'),
  (2, 'Blaise', 'FR', '2024-01-01 00:00:00'),
  (3, 'Carl', 'DE', '2024-01-01 00:00:00')
) AS v(id, name, country, changed_at);
