"""What every output format prints: `core/plain.py`, where Python's own views of a result find it as well."""

from pinakes.core.plain import as_json, as_text, plain, rows

__all__ = ["as_json", "as_text", "plain", "rows"]
