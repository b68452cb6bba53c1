"""What of a statement may be shown: values of options, passwords in addresses, settings with secret names.

Only what is known to be harmless is shown; an option that nobody thought of is masked.
"""

from __future__ import annotations

import re

MASK = "'***'"

HARMLESS = frozenset(
    "TYPE WAREHOUSE SECRET REGION PROVIDER SCOPE READ_ONLY READONLY VISIBILITY CATALOG_NAME VERIFY VERIFY_SSL LOCATION "
    "ENDPOINT PATH_STYLE URL_STYLE USE_SSL URI PREFIX ACCESS_MODE DEFAULT_NAMESPACE NAMESPACE TIMEOUT DIALECT "
    "ACCESS_DELEGATION POOL_SIZE SCHEMA DATABASE HOST PORT USER USERNAME COMMENT FORMAT".split()
)
"""Options whose values may be shown. SECRET is the name of one, not its value."""

_SECRET_NAME = re.compile(r"token|passw|pwd|secret|key|credential", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"(://[^/?#:@\s]*):[^/?#\s]*@")
_URL_QUERY = re.compile(r"([?&;][^=&;?\s]+)=[^&;\s']*")
_URL_ASSIGNMENT = re.compile(
    r"((?:token|passw\w*|pwd|secret\w*|\w*key|credential\w*)\s*[=:]\s*)(?:\"[^\"]*\"|[^\s;,&'\"]+)", re.IGNORECASE
)


def looks_secret(name: str) -> bool:
    """Whether a setting of this name is one to keep."""
    return _SECRET_NAME.search(name) is not None


def masked_address(text: str) -> str:
    """A location without its password, its query-string values and whatever `password=` gives."""
    text = _URL_PASSWORD.sub(r"\1:***@", text)
    text = _URL_QUERY.sub(r"\1=***", text)
    return _URL_ASSIGNMENT.sub(r"\1***", text)
