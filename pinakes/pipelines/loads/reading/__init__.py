"""The records of files as Spark data frames: inspection of new files, one reader per format, bad records and the
reasons why they are bad. Which files are new is decided in `pipelines/loads/discovery.py`; rows are written by
`pipelines/loads/staging.py`."""
