"""Rows become Parquet files of an Iceberg table, streamed, with the metrics that readers prune by. Commits belong to
`engine/iceberg/write`; COPY TO writes Parquet in `engine/files`.

    layout.py      how files are laid out, by the table's properties: row groups, codec, pages, size of a file
    columns.py     the columns of a file: their paths in Parquet, their field ids and what is to be told of each
    modes.py       how much is told of a column: `write.metadata.metrics.*`
    row_groups.py  a stream of batches cut into row groups
    file.py        one file that is being written, from its first row group to its entry in a manifest
    metrics.py     that entry's counts and bounds, from the file's footer
    bounds.py      one bound: shortened without becoming wrong, and as Iceberg's bytes
    rolling.py     the rows of one partition, in files of about the size that is asked for
    lanes.py       threads that encode while the query runs on

`engine/iceberg/write/files.py` puts them together.
"""
