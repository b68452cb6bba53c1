"""Which files COPY INTO has loaded into a table, so that none is loaded twice.

It is kept in the table's properties and changes in the commit that adds the rows: either both happen or neither does.
Of each file 16 characters are kept, made of its path, its size and when it was changed (or its ETag): a file that has
changed is another one. Properties hold 240 files each, since some metastores keep no longer ones.
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
"""The property of a table that says how many files it remembers at most."""
_MOST = 10_000
_WIDTH, _EACH = 16, 240


class Loaded:
    """What the properties of a table tell."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._most = _most(properties)
        self._keys = sorted((key for key in properties if is_record(key)), key=lambda key: int(key[len(PREFIX) :]))
        texts = [properties[key] for key in self._keys]
        self._known = dict.fromkeys(text[at : at + _WIDTH] for text in texts for at in range(0, len(text), _WIDTH))

    def __contains__(self, file: File) -> bool:
        return _mark(file) in self._known

    def check_room(self, files: Iterable[File]) -> None:
        """Raise when these are more than the table can remember."""
        known = self._with(files)
        if len(known) > self._most:
            raise InvalidArgument(
                f"COPY INTO would have to remember {len(known)} files, and the table remembers {self._most} at most: "
                f"raise its property '{MOST_FILES}' (ALTER TABLE … SET PROPERTIES; each takes {_WIDTH} bytes of the "
                f"table's metadata), or load with COPY … FROM, which remembers nothing"
            )

    def remember(self, files: Iterable[File], transaction: Transaction) -> None:
        """Add these files to what the table will know once the transaction is committed."""
        known = self._with(files)
        parts = [known[at : at + _EACH] for at in range(0, len(known), _EACH)]
        updates = {f"{PREFIX}{number}": "".join(part) for number, part in enumerate(parts)}
        transaction._apply((SetPropertiesUpdate(updates=updates),))

    def _with(self, files: Iterable[File]) -> list[str]:
        return list(self._known | dict.fromkeys(_mark(file) for file in files))


def forget(transaction: Transaction) -> None:
    """The table is empty, or another one: whatever was loaded may be loaded again."""
    keys = [key for key in transaction.table_metadata.properties if is_record(key)]
    if keys:
        transaction._apply((RemovePropertiesUpdate(removals=keys),))


def is_record(key: str) -> bool:
    """Whether a property is one of these: nothing that a person has set, or should copy."""
    return key.startswith(PREFIX) and key[len(PREFIX) :].isdigit()


def _mark(file: File) -> str:
    stamp = file.stamp
    version = stamp.modified if file.is_local else stamp.identity or stamp.modified
    told = f"{file.real}\0{stamp.size}\0{version}".encode()
    return base64.urlsafe_b64encode(hashlib.sha256(told).digest()[: _WIDTH * 3 // 4]).decode()


def _most(properties: Mapping[str, str]) -> int:
    given = properties.get(MOST_FILES, str(_MOST))
    if not given.isdigit():
        raise InvalidArgument(f"the table's property '{MOST_FILES}' must be a number, not {given!r}")
    return int(given)
