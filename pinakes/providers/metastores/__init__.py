"""The catalog types of metastores, whose namespaces have one level: AWS Glue, S3 Tables, and Hive metastores. Each has
a module that opens it and a client, which is imported when it is opened."""
