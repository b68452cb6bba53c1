"""Translates errors of object stores. pyarrow reports them all as the text of an OSError.

A store may echo the rejected request, including keys: only its codes are shown, and the text is removed from the error
that is kept as the cause.
"""

from __future__ import annotations

import re

from pinakes.core.errors import CatalogUnavailable, FileNotFound, InvalidArgument, PermissionDenied, PinakesError

_CODE = re.compile(r"AWS Error (\w+|\[code \d+\])(?: \(HTTP status (\d+)\))?")
_NAMED = re.compile(r"ExceptionName: (\w+)")
_REFUSED = re.compile(
    r"ACCESS_DENIED|ACCESS_?KEY|SIGNATURE|EXPIRED|TOKEN|UNRECOGNIZED_CLIENT|AUTHENTICATION|NOT_AUTHORIZED|^40[013]$"
    r"|AccessDenied|Unauthorized|Forbidden|AccessKey|Signature|Expired|Token|UserNotFound|SuspendedOrDisabled"
)
"""HEAD responses have no error details: 400 is an invalid token, or a signature for another region."""
_MISSING = re.compile(r"NO_SUCH_BUCKET|NoSuchBucket")
_NO_ADDRESS = re.compile(r"^VALIDATION$|^ENDPOINT_RESOLUTION_FAILURE$|^\[code 103\]$")
_AWAY = re.compile(r"NETWORK_CONNECTION|TIMEOUT|SLOW_DOWN|UNAVAILABLE|INTERNAL_FAILURE|THROTTL|^5\d\d$")
_ELSEWHERE = re.compile(r"^30[1278]$|PermanentRedirect|AuthorizationHeaderMalformed|RegionError")


def store_error(error: OSError, path: str, secret: str) -> PinakesError | None:
    """Returns the translated error; None if it does not come from an object store."""
    codes = _codes(str(error))
    if not codes:
        return None
    error.args = (f"AWS Error {', '.join(codes)}",)
    if found := _first(_ELSEWHERE, codes):
        return InvalidArgument(
            f"'{path}' lies in another region than secret '{secret}' says ({found}): give REGION in "
            f"CREATE OR REPLACE SECRET {secret} (…)"
        )
    if found := _first(_REFUSED, codes):
        return PermissionDenied(
            f"'{path}': the object store refused what secret '{secret}' has ({found}). CREATE OR REPLACE SECRET "
            f"{secret} with keys and a REGION that are valid for this, or make one with a longer SCOPE for this path."
        )
    if _first(_MISSING, codes):
        return no_bucket(path.split("/")[2], secret)
    if _first(_NO_ADDRESS, codes):
        return InvalidArgument(
            f"'{path}' can not be read: check whether its bucket has a valid name, and whether ENDPOINT and REGION "
            f"of secret '{secret}' are right, as in ENDPOINT 'https://store.example.com'"
        )
    what = "can't be reached" if _first(_AWAY, codes) else "failed"
    return CatalogUnavailable(
        f"'{path}': the object store {what} ({', '.join(codes)}). Check ENDPOINT and REGION of secret "
        f"'{secret}', and try again."
    )


def no_bucket(bucket: str, secret: str) -> FileNotFound:
    return FileNotFound(f"bucket '{bucket}' does not exist at the object store that secret '{secret}' leads to")


def _codes(text: str) -> list[str]:
    """Returns the error codes, which cannot contain secrets."""
    code = _CODE.search(text)
    if code is None:
        return []
    named = _NAMED.search(text)
    return [word for word in (named and named[1], code[1], code[2]) if word]


def _first(wanted: re.Pattern[str], codes: list[str]) -> str | None:
    return next((code for code in codes if wanted.search(code)), None)
