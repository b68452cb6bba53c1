"""Maps requests to methods of the catalog or to functions, with their arguments."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pinakes.worker.catalog.infos import FunctionInfo, SchemaInfo, TableInfo, ViewInfo
from pinakes.worker.catalog.interface import CatalogInterface
from pinakes.worker.catalog.names import OnConflict, SchemaObjectType
from pinakes.worker.catalog.records import Info, attached, info_bytes, name_of, scan_result_bytes
from pinakes.worker.exceptions import ProtocolError
from pinakes.worker.function import Function
from pinakes.worker.serving import events
from pinakes.worker.serving.calls import Running, bind_call_of, bind_response, bound, header_of, started
from pinakes.worker.serving.seals import PLAIN, Seals
from pinakes.worker.table_function import TableFunctionGenerator
from pinakes.worker.wire import schemas
from pinakes.worker.wire.messages import Request
from pinakes.worker.wire.records import decode, encode

LOGGER = logging.getLogger("pinakes.worker")

_ATTACH, _TXN = "attach_opaque_data", "transaction_opaque_data"
FindFunction = Callable[[str, str | None], type[Function]]
"""Finds a function by its name, and by its schema's name if given."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller as the transport knows it, and how opaque data is sealed for them."""

    name: str = ""
    seals: Seals = PLAIN

    def opened(self, values: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(values)
        for key in (_ATTACH, _TXN):
            if found.get(key) is not None:
                found[key] = self.seals.open(found[key], key, self.name)
        return found

    def sealed(self, data: bytes, key: str) -> bytes:
        return self.seals.seal(data, key, self.name)


class Dispatcher:
    """The dispatcher of a process. `catalog` is None for a worker with functions only."""

    def __init__(self, catalog: CatalogInterface | None, function: FindFunction) -> None:
        self._catalog = catalog
        self._function = function
        self._own: dict[str, Callable[[dict[str, Any], Caller], bytes | None]] = {
            "bind": self._bind,
            "table_function_cardinality": self._cardinality,
            "catalog_catalogs": self._catalogs,
            "catalog_attach": self._attach,
            "catalog_detach": self._detach,
            "catalog_create": self._create,
            "catalog_version": self._version,
            "catalog_transaction_begin": self._begin,
            "catalog_transaction_commit": lambda v, _: self._end(v, "commit", events.COMMIT),
            "catalog_transaction_rollback": lambda v, _: self._end(v, "rollback", events.ROLLBACK),
            "catalog_schemas": self._schemas,
            "catalog_schema_contents_tables": lambda v, _: self._contents(v, SchemaObjectType.TABLE, TableInfo),
            "catalog_schema_contents_views": lambda v, _: self._contents(v, SchemaObjectType.VIEW, ViewInfo),
            "catalog_schema_contents_functions": self._functions,
            "catalog_table_create": self._table_create,
            "catalog_table_scan_function_get": self._scan_function,
        }

    def unary(self, request: Request, caller: Caller) -> bytes | None:
        """Returns the result of a method that returns one value or none."""
        values = caller.opened(request.values)
        own = self._own.get(request.method.name)
        if own is not None:
            return own(values, caller)
        found = self._plainly(request.method.name, values)
        if request.method.answers == "nothing":
            return None
        return _items([] if found is None else [found])

    def stream(self, request: Request, caller: Caller) -> tuple[bytes, Running]:
        """Returns the header of a stream, and the running call that produces it."""
        values = decode(request.values.get("request"), "an InitRequest")
        bind = caller.opened(bind_call_of(values))
        running = started(self._called(bind), bind, values)
        return header_of(running), running

    # --- functions -----------------------------------------------------------------------------------------------

    def _bind(self, values: dict[str, Any], caller: Caller) -> bytes:
        bind = caller.opened(decode(values.get("request"), "a BindRequest"))
        _, whole = bound(self._called(bind), bind)
        return bind_response(whole)

    def _cardinality(self, values: dict[str, Any], caller: Caller) -> bytes:
        request = decode(values.get("request"), "a TableFunctionCardinalityRequest")
        bind = caller.opened(bind_call_of(request))
        function = self._called(bind)
        params, _ = bound(function, bind)
        rows = function.cardinality(params) if issubclass(function, TableFunctionGenerator) else None
        return encode(schemas.CARDINALITY, {"estimate": rows})

    def _called(self, bind: Mapping[str, Any]) -> type[Function]:
        path = bind.get("schema_path")
        found = self._function(str(bind.get("function_name")), name_of(path) if path else None)
        if found.TYPE.name != bind.get("function_type"):
            raise ValueError(f"{found.function_name()} is a function of type {found.TYPE.name}")
        return found

    # --- catalogs ------------------------------------------------------------------------------------------------

    @property
    def _interface(self) -> CatalogInterface:
        if self._catalog is None:
            raise NotImplementedError("this worker has no catalog")
        return self._catalog

    def _catalogs(self, values: dict[str, Any], caller: Caller) -> bytes:
        names = self._catalog.catalogs() if self._catalog is not None else []
        empty: dict[str, list[bytes]] = {"attach_option_specs": [], "releases": []}
        records = [encode(schemas.CATALOG_INFO, {"name": name, **empty}) for name in names]
        return encode(schemas.ITEMS, {"items": records})

    def _attach(self, values: dict[str, Any], caller: Caller) -> bytes:
        request = decode(values.get("request"), "a CatalogAttachRequest")
        options = _options(request.get("options"))
        result = self._interface.catalog_attach(name=request["name"], options=options)
        events.emit(
            events.ATTACH,
            catalog=request["name"],
            attach=result.attach_opaque_data,
            options=self._loggable(options),
            data_version_spec=request.get("data_version_spec"),
            implementation_version=request.get("implementation_version"),
        )
        return attached(replace(result, attach_opaque_data=caller.sealed(result.attach_opaque_data, _ATTACH)))  # type: ignore[arg-type]

    def _detach(self, values: dict[str, Any], caller: Caller) -> None:
        self._interface.catalog_detach(attach_opaque_data=values[_ATTACH])
        events.emit(events.DETACH, attach=values[_ATTACH])

    def _create(self, values: dict[str, Any], caller: Caller) -> None:
        request = decode(values.get("request"), "a CatalogCreateRequest")
        options = _options(request.get("options"))
        conflict = _enum(OnConflict, request.get("on_conflict") or "ERROR")
        self._interface.catalog_create(name=request["name"], on_conflict=conflict, options=options)
        events.emit(events.CREATE, catalog=request["name"], options=self._loggable(options))

    def _loggable(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns no options if the catalog fails to name the loggable ones."""
        try:
            return dict(self._interface.loggable_attach_options(options))
        except Exception as error:  # noqa: BLE001 - after any error of the catalog, its options are not logged
            LOGGER.warning("loggable_attach_options failed: %s", type(error).__name__)
            return {}

    def _version(self, values: dict[str, Any], caller: Caller) -> bytes:
        return encode(schemas.CATALOG_VERSION, {"version": self._interface.catalog_version(**_context(values))})

    def _begin(self, values: dict[str, Any], caller: Caller) -> bytes:
        transaction = self._interface.catalog_transaction_begin(attach_opaque_data=values[_ATTACH])
        events.emit(events.BEGIN, attach=values[_ATTACH], transaction=transaction)
        return encode(schemas.TRANSACTION_BEGIN, {_TXN: caller.sealed(transaction, _TXN)})

    def _end(self, values: dict[str, Any], how: str, event: str) -> None:
        getattr(self._interface, f"catalog_transaction_{how}")(**_context(values))
        events.emit(event, attach=values[_ATTACH], transaction=values[_TXN])

    # --- contents of catalogs ------------------------------------------------------------------------------------

    def _schemas(self, values: dict[str, Any], caller: Caller) -> bytes:
        context = _context(values)
        found = [self._interface.schema_get(name=name, **context) for name in self._interface.schemas(**context)]
        return _items([info for info in found if info is not None])

    def _contents(self, values: dict[str, Any], type: SchemaObjectType, kind: type[Info]) -> bytes:
        context = _context(values)
        found = self._interface.schema_contents(name=name_of(values.get("path")), type=type, **context)
        return _items(info for info in found if isinstance(info, kind))

    def _functions(self, values: dict[str, Any], caller: Caller) -> bytes:
        return self._contents(values, _enum(SchemaObjectType, values.get("type")), FunctionInfo)

    def _table_create(self, values: dict[str, Any], caller: Caller) -> None:
        request = caller.opened(decode(values.get("request"), "a TableCreateRequest"))
        for key in ("primary_key_constraints", "foreign_key_constraints"):
            if request.pop(key, None):
                raise NotImplementedError(f"tables with {key.replace('_', ' ')} can't be made")
        self._plainly("catalog_table_create", request)

    def _scan_function(self, values: dict[str, Any], caller: Caller) -> bytes:
        return scan_result_bytes(self._plainly("catalog_table_scan_function_get", values))

    def _plainly(self, method: str, values: dict[str, Any]) -> Any:
        """Calls the method of the interface with (almost) the same name, as most methods do."""
        name = method if hasattr(CatalogInterface, method) else method.removeprefix("catalog_")
        arguments = dict(values)
        if "path" in arguments:
            arguments["name"] = name_of(arguments.pop("path"))
        if "schema_path" in arguments:
            arguments["schema_name"] = name_of(arguments.pop("schema_path"))
        if "on_conflict" in arguments:
            arguments["on_conflict"] = _enum(OnConflict, arguments["on_conflict"])
        if "tags" in arguments:
            arguments["tags"] = arguments["tags"] or {}
        if name == "table_get":  # the interface returns the current table; only scans support time travel
            arguments.pop("at_unit", None), arguments.pop("at_value", None)
        return getattr(self._interface, name)(**arguments)


def _context(values: Mapping[str, Any]) -> dict[str, Any]:
    return {_ATTACH: values[_ATTACH], _TXN: values.get(_TXN)}


def _items(infos: Iterable[Info | SchemaInfo]) -> bytes:
    return encode(schemas.ITEMS, {"items": [info_bytes(info) for info in infos]})


def _options(data: bytes | None) -> dict[str, Any]:
    return decode(data, "options") if data else {}


def _enum(kind: Any, name: Any) -> Any:
    if name not in kind.__members__:
        raise ProtocolError(f"{name!r} is none of {', '.join(kind.__members__)}")
    return kind[name]
