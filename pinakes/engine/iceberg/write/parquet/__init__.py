"""Rows become Parquet files of an Iceberg table, streamed, with the metrics that readers prune by. Commits belong to
`engine/iceberg/write`; COPY TO writes Parquet in `engine/files`.

    layout.py      file layout from table properties: row groups, codec, pages, file size
    columns.py     the columns of a file: Parquet paths, field ids and metrics modes
    modes.py       metrics modes of columns: `write.metadata.metrics.*`
    row_groups.py  splits a stream of batches into row groups
    file.py        one file, from its first row group to its manifest entry
    metrics.py     counts and bounds of a manifest entry, from the file's footer
    bounds.py      one bound: truncated and serialised in Iceberg's format
    rolling.py     the rows of one partition, in files of about the target size
    encoder_threads.py  encoder threads that run in parallel with the query

`engine/iceberg/write/files.py` combines them.
"""
