"""system.metadata.search('words') in a query: a system table that is created for these words."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pinakes.core.catalog import VirtualTable
from pinakes.core.errors import InvalidArgument
from pinakes.engine.binding.relation import Key, Relation
from pinakes.engine.files.tables import arguments_of
from pinakes.engine.system.scan import SystemScan
from pinakes.parser.statements import SearchCall
from pinakes.system_tables.search import search_table

if TYPE_CHECKING:
    from pinakes.engine.statement_context import Execution

SEARCHES = "$search"
"""The catalog name of searches in planned text. No user catalog can have it."""


def words_of(call: SearchCall, parameters: Mapping[int, Any]) -> str:
    arguments = arguments_of(call, parameters)
    if call.options or len(arguments) != 1 or not isinstance(arguments[0], str):
        raise InvalidArgument(
            "system.metadata.search takes the words to look for, and nothing else: system.metadata.search('customer "
            "email'). Conditions on catalog_name, schema_name and table_name limit what is looked at."
        )
    return arguments[0]


def search_key(call: SearchCall, words: str) -> Key:
    """Returns a key that is short, since it occurs in plans, and equal for equal words."""
    return (SEARCHES, sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16], call.name)


def search_relation(words: str, key: Key, execution: Execution) -> Relation:
    scan = SystemScan(VirtualTable(("metadata",), key[2], (), search_table(words), None), execution)
    return Relation(key, scan.placeholder.provider, scan.columns, full_name=(key[2],), system=scan)
