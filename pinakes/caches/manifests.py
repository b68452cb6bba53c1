"""Manifests of Iceberg tables, their lists, and what a snapshot consists of, as the scan reads them."""

from __future__ import annotations

from typing import ClassVar

from pinakes.caches.by_file import FileCache


class ManifestCache(FileCache):
    NAME: ClassVar[str] = "manifests"
