"""The cache of manifests of Iceberg tables, manifest lists, and the contents of snapshots, in the form that
scans use.
"""

from __future__ import annotations

from typing import ClassVar

from pinakes.caches.by_file import FileCache


class ManifestCache(FileCache):
    NAME: ClassVar[str] = "manifests"
