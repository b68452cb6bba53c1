"""How pyiceberg's catalogs reach files: as whoever mounted the catalog said, whatever a table says of itself.

pyiceberg lets a table's properties go before those of its catalog. So who can write a table's metadata would choose
where the catalog's keys are used (`s3.endpoint`), and which class reads its files (`py-io-impl`): one that keeps to no
directories (`confined_io.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyiceberg.catalog import MetastoreCatalog
from pyiceberg.io import load_file_io

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.typedef import Properties


class OwnFileIO(MetastoreCatalog):
    def _load_file_io(self, properties: Properties | None = None, location: str | None = None) -> FileIO:
        """Those that are given are the table's, and are left out."""
        return load_file_io(self.properties, location)
