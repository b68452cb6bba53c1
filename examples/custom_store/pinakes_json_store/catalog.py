"""The catalog type `json_file`: ATTACH '/some/dir' AS mine (TYPE json_file, …)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pinakes.core.errors import CatalogUnavailable
from pinakes.core.secrets import Access
from pinakes.providers.options import option, parse_options
from pinakes.providers.sql_catalog.adapter import StoreCatalog
from pinakes_json_store.store import JsonStore


@dataclass(frozen=True)
class JsonOptions:
    """Each field is an option. What is given and unknown is an error that lists these, with what they are."""

    warehouse: str | None = option("where new tables go; a directory beside the file if not given", default=None)


class JsonCatalog(StoreCatalog):
    Options: ClassVar[type[JsonOptions]] = JsonOptions
    # These are paths of this machine: `engine.allowed_paths` is asked about them.
    LOCAL_PATHS: ClassVar[tuple[str, ...]] = ("location", "warehouse")

    @classmethod
    def open(cls, alias: str, location: str, options: Mapping[str, Any], access: Access) -> JsonCatalog:
        """`access` has the secret that ATTACH named, if any: `access.of_type("basic")`, say. None is needed here."""
        parsed = parse_options(JsonOptions, options, "catalog type json_file")
        directory = Path(location).expanduser().absolute()
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CatalogUnavailable(f"the directory {directory} can't be made: {error.strerror}") from error
        store = JsonStore(directory / "catalog.json", alias)
        store.initialize()
        warehouse = parsed.warehouse or str(directory / "warehouse")
        return cls("json_file", store, {"warehouse": warehouse})
