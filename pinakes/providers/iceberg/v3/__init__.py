"""Writing of Iceberg format version 3, which pyiceberg 0.12 reads and refuses to write. Other
changes of pyiceberg belong to `providers/iceberg/pyiceberg_gate.py`.

    install.py     installs the parts below where pyiceberg decides by format version, and registers the type variant
                   (`core/types/variant.py`); the only place that changes pyiceberg
    records.py     reads manifests and data files with the fields that version 3 adds
    writers.py     writes manifests and manifest lists with these fields
    lineage.py     row ids in table metadata: the next free id, upgrade of a table, adding a snapshot
    snapshots.py   the commit of a snapshot whose rows get ids
    defaults.py    the values of column defaults as JSON, and schemas that keep them
    statistics.py  bounds of nanosecond timestamps and of long strings in Parquet files
    projection.py  NULL lists of structs and maps to structs, which pyiceberg makes empty; for every version

Otherwise versions 1 and 2 use pyiceberg's own code. This package is removed when pyiceberg can write version 3.
"""
