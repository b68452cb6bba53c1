"""Writing of Iceberg format version 3, which pyiceberg 0.12 reads and refuses to write. Other
changes of pyiceberg belong to `providers/pyiceberg_gate.py`.

    install.py     puts the parts below where pyiceberg decides by format version, and lets it know the type variant
                   (`core/variant.py`); the only place that changes pyiceberg
    records.py     manifests and data files with the fields that version 3 adds, and how they are read
    writers.py     manifests and manifest lists written with these fields
    lineage.py     row ids in table metadata: where the next one starts, upgrade of a table, adding a snapshot
    snapshots.py   the commit of a snapshot whose rows get ids
    defaults.py    the values of column defaults as JSON, and schemas that keep them
    statistics.py  bounds of nanosecond timestamps and of long texts in Parquet files
    projection.py  NULL lists of structs and maps to structs, which pyiceberg makes empty; this one is for every version

Otherwise versions 1 and 2 take pyiceberg's own way, untouched. When pyiceberg learns to write version 3, this goes.
"""
