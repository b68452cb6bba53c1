"""SetSessionOptions: sets `catalog` and `schema` like USE, and every other setting like SET. Options are
independent."""

from __future__ import annotations

from pinakes.core.errors import NotFoundError, PinakesError, SettingNotFound
from pinakes.core.names import quote, text_literal, undotted
from pinakes.engine.session import Session
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message, message, read

INVALID_NAME, INVALID_VALUE, FAILED = 1, 2, 3
CATALOG, SCHEMA = "catalog", "schema"


def set_session_options(body: bytes, request: FlightRequest) -> bytes:
    command = read("SetSessionOptionsRequest", body)
    answer = message("SetSessionOptionsResult")()
    options = command.session_options
    for name in sorted(options, key=lambda name: (name != CATALOG, name != SCHEMA, name)):  # the catalog comes first
        error = _set(request.connection.session, name, options[name])
        if error:
            answer.errors[name].value = error
    return bytes(answer.SerializeToString())


def _set(session: Session, name: str, option: Message) -> int:
    """Sets one option. Returns the error number of the protocol, or 0."""
    kind = option.WhichOneof("alternatives")
    if kind == "string_list_value":
        return INVALID_VALUE
    try:
        session.run(_statement(session, name, None if kind is None else str(getattr(option, kind))))
    except SettingNotFound:
        return INVALID_NAME
    except NotFoundError:
        return INVALID_VALUE
    except PinakesError as error:
        return INVALID_VALUE if error.code == "INVALID_ARGUMENT" else FAILED
    return 0


def _statement(session: Session, name: str, value: str | None) -> str:
    """Returns the statement that sets an option. An option without a value is reset to its default."""
    if name == CATALOG:
        return f"USE {quote(value if value is not None else session.engine.home.catalog)}"
    if name == SCHEMA:
        levels = session.engine.home.namespace if value is None else undotted(value) if value else ()
        return "USE " + ".".join(map(quote, (session.scope.catalog, *levels)))
    return f"RESET {quote(name)}" if value is None else f"SET {quote(name)} = {text_literal(value)}"
