"""The server's log: one line per statement at its end, and the records of all modules, with query and user.

`[log] format = "json"` writes each line as a JSON object. Statements are logged with secrets redacted; in other texts
passwords within addresses are redacted.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from datetime import UTC, datetime
from typing import Any

from pinakes.config.model import LogConfig
from pinakes.core.output.terminal_text import VISIBLE, one_line, printable
from pinakes.engine.execution.query_info import QueryInfo
from pinakes.engine.iceberg.write.snapshot_properties import AUTHOR
from pinakes.parser.redaction import masked_address
from pinakes.server.ledger import Ledger

STATEMENTS = logging.getLogger("pinakes.statements")
LONGEST = 10_000
"""Maximum characters of a statement in the log."""


_ESCAPED = {code: f"\\u{code:04x}" for code in VISIBLE if code >= 127}


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """Returns the logged fields of a record, in order."""
    author = AUTHOR.get()
    own: dict[str, Any] = getattr(record, "statement", {})
    text = record.getMessage()
    found: dict[str, Any] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": text if own else masked_address(text),
    }
    if author is not None and not own:
        found |= {"user": author[0], "query_id": author[1]}
    found |= own
    if record.exc_info and record.exc_info[0] is not None:
        found["error"] = masked_address(logging.Formatter().formatException(record.exc_info))
    return found


class Lines(logging.Formatter):
    """The text format: message first, then the fields. Control characters and line breaks are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        found = fields_of(record)
        message = one_line(found.pop("message"))
        head = f"{found.pop('time')} {found.pop('level').upper()} {found.pop('logger')}: {message}"
        error = printable(found.pop("error", ""))
        rest = " ".join(f"{key}={_word(value)}" for key, value in found.items() if value is not None)
        return "\n".join(part for part in (f"{head} {rest}".rstrip(), error) if part)


class Objects(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        found = {key: value for key, value in fields_of(record).items() if value is not None}
        return _json(found)


def _word(value: object) -> str:
    text = str(value)
    return text if text and text.isprintable() and not set(text) & set(' "=') else _json(text)


def _json(value: object) -> str:
    """Returns JSON that is safe on a terminal: invisible characters beyond ASCII are escaped."""
    return json.dumps(value, ensure_ascii=False, default=str).translate(_ESCAPED)


def set_up(config: LogConfig) -> None:
    """Sends all log records of this process to stderr in the configured format."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Objects() if config.format == "json" else Lines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(config.level.upper())


class StatementLog:
    """Logs each statement of the ledger on a separate thread, until it is closed."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        ledger.logs = STATEMENTS.isEnabledFor(logging.INFO)
        self._thread = threading.Thread(target=self._write, name="pinakes-statements", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ledger.log.put(None)
        self._thread.join()

    def _write(self) -> None:
        while (info := self._ledger.log.get()) is not None:
            STATEMENTS.info("%s", str(info.state).lower(), extra={"statement": log_fields(info)})


def log_fields(info: QueryInfo) -> dict[str, Any]:
    """Returns the logged fields of a statement."""
    seconds = {name: round(spent * 1000, 1) for name, spent in info.seconds.items()}
    return {
        "query_id": info.query_id,
        "user": info.user,
        "source": info.source or None,
        "kind": info.kind or None,
        "state": str(info.state),
        "elapsed_ms": round(info.elapsed * 1000, 1),
        **{f"{name}_ms": spent for name, spent in seconds.items()},
        "rows": info.rows,
        "written_rows": info.written,
        "catalogs": ",".join(info.catalogs) or None,
        "error_code": info.error_code,
        "error_message": info.error_message,
        "statement": info.shown[:LONGEST],
    }
