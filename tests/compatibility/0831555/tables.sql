-- What the stored state was made of, on the configuration of `generate.py`. `read.slt` tells what it holds.

CREATE TABLE every_type (
  id INTEGER NOT NULL, b BOOLEAN, i INTEGER, l BIGINT, r REAL, x DOUBLE, p DECIMAL(10, 2), q DECIMAL(38, 10),
  d DATE, t TIME, ts TIMESTAMP, tz TIMESTAMP WITH TIME ZONE, s VARCHAR, raw VARBINARY, u UUID
);
INSERT INTO every_type VALUES
  (1, true, 2147483647, 9223372036854775807, 1.5, -0.1, 12345678.91, '1234567890123456789012345678.0123456789',
   '2024-02-29', '23:59:59.999999', '2024-02-29 12:34:56.123456', '2024-02-29 12:34:56.123456+02:00', 'naïve ☃', X'00FF10',
   '00112233-4455-6677-8899-aabbccddeeff'),
  (2, false, -2147483648, -9223372036854775808, -1.5, 1e300, -0.01, '-0.0000000001',
   '1969-12-31', '00:00:00', '1969-12-31 23:59:59.999999', '0001-01-01 00:00:00+00:00', '', X'',
   'ffffffff-ffff-ffff-ffff-ffffffffffff'),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

CREATE TABLE far_times (id INTEGER, ts TIMESTAMP, d DATE);
INSERT INTO far_times SELECT 1, CAST('9999-12-31 23:59:59' AS TIMESTAMP(6)), DATE '9999-12-31';

CREATE TABLE nested (
  id INTEGER, l ARRAY(INTEGER), m MAP(VARCHAR, ARRAY(INTEGER)), st STRUCT(a INTEGER, b STRUCT(c VARCHAR, d DATE)),
  ls ARRAY(STRUCT(x INTEGER, y VARCHAR))
);
INSERT INTO nested VALUES
  (1, [1, NULL, 3], MAP {'k': [1, 2], 'e': []}, named_struct('a', 7, 'b', named_struct('c', 'deep', 'd', DATE '2024-01-02')),
   [named_struct('x', 1, 'y', 'one')]),
  (2, [], NULL, NULL, NULL);

-- partitions by each transform, and a change of them
CREATE TABLE partitioned (id BIGINT, name VARCHAR, price DECIMAL(8, 2), day DATE, at TIMESTAMP)
  PARTITIONED BY (name, bucket(2, id), truncate(name, 1), truncate(price, 100), month(day), hour(at));
INSERT INTO partitioned VALUES
  (1, 'ada', 1.25, '2024-01-31', '2024-01-31 10:00:00'), (2, 'alan', 250.00, '2023-12-31', '1969-12-31 23:30:00'),
  (3, NULL, NULL, NULL, NULL);
CREATE TABLE repartitioned (id INTEGER, day DATE) PARTITIONED BY (year(day));
INSERT INTO repartitioned VALUES (1, '2023-05-05'), (2, '2024-05-05');
ALTER TABLE repartitioned DROP PARTITION FIELD year(day);
ALTER TABLE repartitioned ADD PARTITION FIELD day(day);
INSERT INTO repartitioned VALUES (3, '2024-05-06');

-- rows that were deleted and changed, both ways, in each version of the format
CREATE TABLE copied_2 (id INTEGER, part INTEGER, s VARCHAR) PARTITIONED BY (part) WITH ('format-version' = '2');
INSERT INTO copied_2 SELECT value, value % 3, 's' || value FROM range(12);
DELETE FROM copied_2 WHERE id % 4 = 0;
UPDATE copied_2 SET s = upper(s) WHERE id < 4;
CREATE TABLE marked_2 LIKE copied_2 WITH (
  'format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read');
INSERT INTO marked_2 SELECT value, value % 3, 's' || value FROM range(12);
DELETE FROM marked_2 WHERE id % 4 = 0;
UPDATE marked_2 SET s = upper(s) WHERE id < 4;
CREATE TABLE marked_3 LIKE marked_2 WITH ('format-version' = '3');
INSERT INTO marked_3 SELECT value, value % 3, 's' || value FROM range(12);
DELETE FROM marked_3 WHERE id % 4 = 0;
UPDATE marked_3 SET s = upper(s) WHERE id < 4;
MERGE INTO marked_3 AS t USING (VALUES (5, 'merged'), (100, 'new')) AS v(k, w) ON t.id = v.k
  WHEN MATCHED THEN UPDATE SET s = w WHEN NOT MATCHED THEN INSERT VALUES (k, 1, w);
CREATE TABLE copied_1 (id INTEGER, s VARCHAR) WITH ('format-version' = '1');
INSERT INTO copied_1 VALUES (1, 'a'), (2, 'b');
DELETE FROM copied_1 WHERE id = 1;

-- what only version 3 has
CREATE TABLE third (id INTEGER, n INTEGER DEFAULT 5, s VARCHAR DEFAULT 'it''s', at TIMESTAMP(9)) WITH ('format-version' = '3');
INSERT INTO third (id, at) VALUES (1, '2024-01-01 00:00:00.123456789');
ALTER TABLE third ADD COLUMN e BIGINT DEFAULT 7;
INSERT INTO third (id, n) VALUES (2, NULL);
UPDATE third SET s = 'changed' WHERE id = 2;

-- columns that changed
CREATE TABLE evolved (a INTEGER, b VARCHAR, c REAL, d DECIMAL(5, 2), st STRUCT(x INTEGER, y INTEGER), gone INTEGER);
INSERT INTO evolved VALUES (1, 'one', 1.5, 1.25, named_struct('x', 1, 'y', 2), 0);
ALTER TABLE evolved RENAME COLUMN b TO "B b";
ALTER TABLE evolved ALTER COLUMN a TYPE BIGINT;
ALTER TABLE evolved ALTER COLUMN c TYPE DOUBLE;
ALTER TABLE evolved ALTER COLUMN d TYPE DECIMAL(9, 2);
ALTER TABLE evolved RENAME COLUMN st.x TO z;
ALTER TABLE evolved DROP COLUMN gone;
ALTER TABLE evolved ADD COLUMN gone VARCHAR;
ALTER TABLE evolved ALTER COLUMN a AFTER c;
INSERT INTO evolved VALUES ('two', 2.5, 20000000000, 1234567.89, named_struct('z', 3, 'y', 4), 'back');

-- branches, tags, history
CREATE TABLE versions (id INTEGER);
INSERT INTO versions VALUES (1);
ALTER TABLE versions CREATE TAG first RETAIN 36500 DAYS;
ALTER TABLE versions CREATE BRANCH audit WITH SNAPSHOT RETENTION 10 SNAPSHOTS 7 DAYS;
INSERT INTO versions FOR BRANCH audit VALUES (10);
INSERT INTO versions VALUES (2);
ALTER TABLE versions ADD COLUMN more INTEGER;
INSERT INTO versions VALUES (3, 30);

-- comments, properties, keys, order, statistics
CREATE TABLE described (
  id BIGINT NOT NULL COMMENT 'the key', "B b" VARCHAR COMMENT 'ünï', n INTEGER, PRIMARY KEY (id)
) SORTED BY (n DESC, id) COMMENT 'it''s a table'
  WITH ('owner' = 'me', 'write.parquet.compression-codec' = 'zstd', 'write.parquet.bloom-filter-enabled.column.id' = 'true');
INSERT INTO described SELECT value, 'v' || value, value % 5 FROM range(20);
ANALYZE described;
ALTER TABLE described SET TBLPROPERTIES ('more' = 'yes');

-- after maintenance
CREATE TABLE kept (id INTEGER, s VARCHAR);
INSERT INTO kept VALUES (1, 'a');
INSERT INTO kept VALUES (2, 'b');
INSERT INTO kept VALUES (3, 'c');
DELETE FROM kept WHERE id = 2;
CALL system.rewrite_data_files('kept');
CALL system.rewrite_manifests('kept');
CALL system.expire_snapshots(table => 'kept', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1);
COPY (SELECT CAST(4 AS INTEGER) AS id, 'd' AS s) TO '${ROOT}/files/added.parquet';
CALL system.add_files('kept', '${ROOT}/files/added.parquet');

-- names
CREATE SCHEMA a WITH (owner = 'me');
CREATE SCHEMA a.b;
COMMENT ON SCHEMA a.b IS 'inner';
CREATE TABLE a.b."Größe $ 1" ("m.n" INTEGER, "select" INTEGER, "Ä" INTEGER);
INSERT INTO a.b."Größe $ 1" VALUES (1, 2, 3);
CREATE TABLE emptied (id INTEGER);
INSERT INTO emptied VALUES (1);
TRUNCATE TABLE emptied;
CREATE TABLE unused (id INTEGER);
CREATE TABLE earlier_name (id INTEGER);
INSERT INTO earlier_name VALUES (1);
ALTER TABLE earlier_name RENAME TO renamed;

-- views
CREATE VIEW v (k COMMENT 'key', "W w") COMMENT 'two columns' AS SELECT id, "B b" FROM described WHERE id < 2;
CREATE VIEW a.b.of_view AS SELECT k + 1 AS k1 FROM default.v;
CREATE OR REPLACE VIEW a.b.of_view AS SELECT k + 10 AS k10 FROM default.v;

-- other catalogs
CREATE SCHEMA shop.s;
CREATE TABLE shop.s.orders (id INTEGER, amount DECIMAL(10, 2)) PARTITIONED BY (bucket(2, id));
INSERT INTO shop.s.orders VALUES (1, 4.40), (2, 4.07);
CREATE VIEW shop.s.big AS SELECT id FROM shop.s.orders WHERE id > 1;
CREATE SCHEMA h.sales;
CREATE SCHEMA h.sales.eu;
CREATE TABLE h.sales.eu.orders (id BIGINT, day DATE) PARTITIONED BY (day) WITH ('write.delete.mode' = 'merge-on-read');
INSERT INTO h.sales.eu.orders VALUES (1, '2024-01-01'), (2, '2024-01-01'), (3, NULL);
DELETE FROM h.sales.eu.orders WHERE id = 2;

-- one commit of two tables
BEGIN;
INSERT INTO unused VALUES (1);
CREATE TABLE together AS SELECT id FROM unused;
COMMIT;
