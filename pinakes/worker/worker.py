"""`class MyWorker(Worker)`: declares a catalog or functions, and serves them with `.run()`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pinakes.worker.catalog.declared import DeclaredCatalog
from pinakes.worker.catalog.descriptors import Catalog
from pinakes.worker.catalog.interface import CatalogInterface
from pinakes.worker.catalog.read_only import ReadOnlyCatalogInterface
from pinakes.worker.function import Function

if TYPE_CHECKING:
    from pinakes.worker.serving.authentication import Authenticate
    from pinakes.worker.serving.dispatch import Dispatcher

_FUNCTIONS = "functions"


class Worker:
    """Serves a `catalog`, a `catalog_interface`, or `functions` under a `catalog_name`.

    With neither an interface nor a name there is no catalog, and the functions can only be called by clients of the
    protocol.
    """

    catalog: ClassVar[Catalog | None] = None
    catalog_interface: ClassVar[type[CatalogInterface] | None] = None
    catalog_name: ClassVar[str | None] = _FUNCTIONS
    functions: ClassVar[Sequence[type[Function]]] = ()

    authenticate: ClassVar[Authenticate | None] = None
    """Over HTTP: returns the caller's name from the headers of a request, or None to refuse the request. Without it,
    the worker serves loopback addresses only, unless --token-file is given.
    """

    def __init__(self) -> None:
        self.interface = self._interface()

    def run(self, argv: Sequence[str] | None = None) -> None:
        """Serves on standard input and output, or as the command line specifies (`--unix`, `--http`)."""
        from pinakes.worker.serving.run import run

        run(self, argv)

    def dispatcher(self) -> Dispatcher:
        from pinakes.worker.serving.dispatch import Dispatcher

        return Dispatcher(self.interface, self.find_function)

    def find_function(self, name: str, schema_name: str | None) -> type[Function]:
        """Returns a callable function, including those that are only used to read a table."""
        schemas = self.catalog.schemas if self.catalog is not None else ()
        by_schema = [(s.name, f) for s in schemas for f in s.all_functions()]
        by_schema += [("main", f) for f in (*self.functions, *getattr(self.interface, "functions", ()))]
        found = [(s, f) for s, f in by_schema if f.function_name() == name]
        for schema, function in found:
            if schema == schema_name:
                return function
        if found:
            return found[0][1]
        known = sorted({f.function_name() for _, f in by_schema})
        raise ValueError(f"function '{name}' does not exist; available: {', '.join(known) or 'none'}")

    def _interface(self) -> CatalogInterface | None:
        if self.catalog_interface is not None:
            return self.catalog_interface()
        if self.catalog is not None:
            return DeclaredCatalog(self.catalog, getattr(self, "table_scan_function_get", None))
        if self.catalog_name is None:
            return None
        kind: Any = type("Functions", (ReadOnlyCatalogInterface,), _functions(self.catalog_name, self.functions))
        made: CatalogInterface = kind()
        return made


def _functions(name: str, functions: Sequence[type[Function]]) -> dict[str, Any]:
    return {"catalog_name": name, "functions": tuple(functions)}
