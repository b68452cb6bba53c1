"""What the driver reports, as dbt's errors: the server's own sentence, without what the driver wraps around it."""

from __future__ import annotations

import re

from dbt.adapters.exceptions import FailedToConnectError
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

# INVALID_ARGUMENT: [FlightSQL] TABLE_NOT_FOUND: table x does not exist. Detail: Python exception: … (…; ExecuteUpdate)
_WRAPPED = re.compile(
    r"^[A-Z_]+: \[FlightSQL\] (?P<said>.*?)(?:\. Detail: .*?)?"
    r" \((?P<status>\w+); [^()]*\)(?:\. Vendor code: \d+)?\.?$",
    re.DOTALL,
)
_CODED = re.compile(r"^[A-Z][A-Z_]+: ")
_GONE = ("Unavailable",)
_REFUSED = ("Unauthenticated",)


def sentence(error: BaseException) -> str:
    """What the server said: its code, and what to do about it."""
    found = _WRAPPED.match(str(error))
    return found["said"].strip() if found else str(error).strip()


def status(error: BaseException) -> str:
    """gRPC's word for it, where the driver tells."""
    found = _WRAPPED.match(str(error))
    return found["status"] if found else ""


def breaks_the_connection(error: BaseException) -> bool:
    """Whether nothing more can be done on this connection: the next model opens another."""
    return status(error) in (*_GONE, *_REFUSED)


def translated(error: BaseException, address: str) -> DbtRuntimeError:
    said = sentence(error)
    match status(error):
        case "Unavailable" if not _CODED.match(said):
            return FailedToConnectError(
                f"The server at {address} is gone or does not answer: {said}. Run again when it is back."
            )
        case "Unauthenticated":
            return FailedToConnectError(
                f"The server at {address} does not accept the profile's login (any more): {said}. "
                "Renew the token or the password."
            )
        case _:
            return DbtDatabaseError(said)
