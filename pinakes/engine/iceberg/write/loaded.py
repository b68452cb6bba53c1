"""The record of files that COPY INTO has loaded into a table, so that none is loaded again.

The record is kept in table properties and changes in the commit that adds the rows. Each file takes 16 characters, a
hash of its path, size and modification time (or ETag): a changed file counts as a new one. A property holds 240 files,
since some metastores limit the length of properties.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping

from pyiceberg.table import Transaction
from pyiceberg.table.update import RemovePropertiesUpdate, SetPropertiesUpdate

from pinakes.core.errors import InvalidArgument
from pinakes.engine.files.paths import File

PREFIX = "pinakes.copy-into.files."
MOST_FILES = "pinakes.copy-into.most-files"
"""The table property with the maximum number of recorded files."""
_MOST = 10_000
_WIDTH, _EACH = 16, 240


class Loaded:
    """The files recorded in the properties of a table."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._most = _most(properties)
        self._keys = sorted((key for key in properties if is_record(key)), key=lambda key: int(key[len(PREFIX) :]))
        texts = [properties[key] for key in self._keys]
        self._known = dict.fromkeys(text[at : at + _WIDTH] for text in texts for at in range(0, len(text), _WIDTH))

    def __contains__(self, file: File) -> bool:
        return _mark(file) in self._known

    def check_room(self, files: Iterable[File]) -> None:
        """Fails if the table would exceed its maximum number of recorded files."""
        known = self._with(files)
        if len(known) > self._most:
            raise InvalidArgument(
                f"COPY INTO would have to remember {len(known)} files, and the table remembers {self._most} at most: "
                f"raise its property '{MOST_FILES}' (ALTER TABLE … SET PROPERTIES; each takes {_WIDTH} bytes of the "
                f"table's metadata), or load with COPY … FROM, which remembers nothing"
            )

    def remember(self, files: Iterable[File], transaction: Transaction) -> None:
        """Adds these files to the record, in the transaction."""
        known = self._with(files)
        parts = [known[at : at + _EACH] for at in range(0, len(known), _EACH)]
        updates = {f"{PREFIX}{number}": "".join(part) for number, part in enumerate(parts)}
        transaction._apply((SetPropertiesUpdate(updates=updates),))

    def _with(self, files: Iterable[File]) -> list[str]:
        return list(self._known | dict.fromkeys(_mark(file) for file in files))


def forget(transaction: Transaction) -> None:
    """Clears the record, when the table is emptied or replaced: all files may be loaded again."""
    keys = [key for key in transaction.table_metadata.properties if is_record(key)]
    if keys:
        transaction._apply((RemovePropertiesUpdate(removals=keys),))


def is_record(key: str) -> bool:
    """Returns whether a property is part of the record, which users neither set nor copy."""
    return key.startswith(PREFIX) and key[len(PREFIX) :].isdigit()


def _mark(file: File) -> str:
    stamp = file.stamp
    version = stamp.modified if file.is_local else stamp.identity or stamp.modified
    place = file.real if file.member is None else f"{file.real}/{file.member}"
    fingerprint = f"{place}\0{stamp.size}\0{version}".encode()
    return base64.urlsafe_b64encode(hashlib.sha256(fingerprint).digest()[: _WIDTH * 3 // 4]).decode()


def _most(properties: Mapping[str, str]) -> int:
    given = properties.get(MOST_FILES, str(_MOST))
    if not given.isdigit():
        raise InvalidArgument(f"the table's property '{MOST_FILES}' must be a number, not {given!r}")
    return int(given)
