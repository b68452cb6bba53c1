"""Events of a catalog's life cycle: structured log records, and breadcrumbs if sentry-sdk is installed.

This is the only module through which opaque data gets into a log, and only as a short hash.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from functools import cache
from typing import Any

LOGGER = logging.getLogger("pinakes.worker.catalog")

ATTACH = "catalog.attach"
DETACH = "catalog.detach"
CREATE = "catalog.create"
BEGIN = "catalog.transaction.begin"
COMMIT = "catalog.transaction.commit"
ROLLBACK = "catalog.transaction.rollback"


def short_hash(data: bytes | None) -> str | None:
    """Returns the first 12 characters of the SHA-256: enough to recognise the same value without disclosing it."""
    return None if data is None else hashlib.sha256(data).hexdigest()[:12]


def emit(
    event: str,
    *,
    catalog: str | None = None,
    attach: bytes | None = None,
    transaction: bytes | None = None,
    options: Mapping[str, Any] | None = None,
    data_version_spec: str | None = None,
    implementation_version: str | None = None,
) -> None:
    """Logs an event. `options` are those that the catalog declares loggable; without any, the record has no
    such field.
    """
    fields: dict[str, Any] = {
        "catalog": catalog,
        "attach_id": short_hash(attach),
        "transaction_id": short_hash(transaction),
        "data_version_spec": data_version_spec,
        "implementation_version": implementation_version,
    }
    if options:
        fields["options"] = dict(options)
    fields_text = " ".join(f"{key}={value}" for key, value in fields.items() if value is not None)
    LOGGER.info("%s %s", event, fields_text, extra={"event": event, **{f"vgi_{key}": v for key, v in fields.items()}})
    sentry = _sentry()
    if sentry is not None:
        sentry.add_breadcrumb(category=event, message=event, level="info", data=fields)
        for key in ("attach_id", "transaction_id"):
            if fields[key] is not None:
                sentry.set_tag(f"vgi.{key}", fields[key])


@cache
def _sentry() -> Any:
    try:
        import sentry_sdk  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    return sentry_sdk
