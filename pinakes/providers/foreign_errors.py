"""Translates errors of boto3, thrift and file stores to Pinakes errors. Each is recognised by its package.

A service's message about a signature may contain the complete signed request with its session token: for refusals only
the code is reported, and the text is removed from the error that is kept as the cause.
"""

from __future__ import annotations

import errno
import os
import re
from typing import Any

from pinakes.core import errors as ours

_REFUSED = re.compile(
    r"AccessDenied|Unauthorized|Forbidden|Signature|UnrecognizedClient|InvalidClientTokenId|InvalidAccessKeyId"
    r"|Expired|InvalidToken|AuthFailure|NotAuthorized|MissingAuthentication"
)
_REFUSED_BY_STORE = re.compile(
    r"AWS Error (ACCESS_DENIED|INVALID_ACCESS_KEY_ID|SIGNATURE_DOES_NOT_MATCH|INVALID_SIGNATURE|EXPIRED_TOKEN"
    r"|INVALID_CLIENT_TOKEN_ID|UNRECOGNIZED_CLIENT|MISSING_AUTHENTICATION_TOKEN)"
    r"|ExceptionName: (\w*(?:InvalidToken|AccessDenied|Expired|Signature|InvalidAccessKey)\w*)"
    r"|HTTP response code (401|403)\b"
)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FAILED_IN_STORE = re.compile(r"AWS Error (SLOW_DOWN|INTERNAL_FAILURE|SERVICE_UNAVAILABLE)|(HTTP status (?:5\d\d|429))")
_STORE_AWAY = re.compile(r"AWS Error (NETWORK_CONNECTION|REQUEST_TIMEOUT)|curlCode: (6|7|28|35|60)")
_MOST_FAULTS = 20


def summarize(error: Exception) -> Exception:
    """Returns the error, or one with the number of faults if pydantic lists very many: their text has a hundred bytes
    for each byte of the metadata.
    """
    listed = error.args[0] if error.args and isinstance(error.args[0], Exception) else error
    count = getattr(listed, "error_count", None)
    if count is None or count() <= _MOST_FAULTS:
        return error
    return ValueError(f"it has {count():,} faults as {getattr(listed, 'title', 'metadata').strip('_')}")


def translate_foreign(error: Exception, subject: object) -> ours.PinakesError | None:
    """Returns the corresponding error; None for an error of other packages."""
    if isinstance(error, MemoryError):
        return ours.OutOfMemory(f"{subject}: the process has no memory left for this. Try again, or read less at once.")
    package = type(error).__module__.partition(".")[0]
    if package == "botocore":
        return _of_aws(error, subject)
    if package in ("thrift", "hive_metastore"):
        return _of_hive(error, subject)
    return _of_store(error, subject) if isinstance(error, OSError) else None


def _of_store(error: OSError, subject: object) -> ours.PinakesError | None:
    text = str(error)
    if error.errno in _FULL:
        return ours.WriteFailed(f"{subject}: there is no room left where its files go: {os.strerror(error.errno)}")
    if found := _REFUSED_BY_STORE.search(text):
        return ours.PermissionDenied(
            f"{subject}: the object store refused ({found[1] or found[2] or found[3]}). "
            f"Check that the keys in the catalog's STORAGE_SECRET (or its SECRET) have this permission."
        )
    if found := _FAILED_IN_STORE.search(text):  # overloaded or failing: the file itself may be fine
        return ours.CatalogUnavailable(
            f"{subject}: the object store failed ({found[1] or found[2]}). Try again, or check the store."
        )
    if _STORE_AWAY.search(text):
        return ours.CatalogUnavailable(
            f"{subject}: the object store can't be reached. Check ENDPOINT and REGION of the catalog's "
            f"STORAGE_SECRET: {text.partition(' with region')[0][:300]}"
        )
    return None


def _of_aws(error: Any, subject: object) -> ours.PinakesError:
    if isinstance(getattr(error, "response", None), dict):
        return _of_service(error, subject)
    name = type(error).__name__
    if name in ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "TokenRetrievalError"):
        return ours.PermissionDenied(
            f"{subject}: no credentials for AWS were found. CREATE SECRET s (TYPE aws, KEY_ID '…', SECRET '…'), "
            f"then ATTACH … (SECRET s)"
        )
    if name == "NoRegionError":
        return ours.InvalidArgument(f"{subject}: AWS needs a region: ATTACH … (REGION 'eu-central-1')")
    if name in ("ParamValidationError", "InvalidEndpointConfigurationError", "InvalidRegionError"):
        return ours.InvalidArgument(f"{subject}: {error}")
    return ours.CatalogUnavailable(f"{subject}: AWS can't be reached: {error}. Check ENDPOINT and REGION.")


def _of_service(error: Any, subject: object) -> ours.PinakesError:
    said = error.response.get("Error", {})
    code, message = str(said.get("Code", "")), str(said.get("Message", ""))
    if _REFUSED.search(code):
        error.args = (f"An error occurred ({code})",)
        return ours.PermissionDenied(
            f"{subject}: AWS refused ({code}). CREATE OR REPLACE SECRET with keys that are valid and may do this."
        )
    if re.search(r"NotFound", code):
        return ours.NotFoundError(f"{subject}: {message}")
    if re.search(r"Invalid|Validation|BadRequest|Malformed", code):
        return ours.InvalidArgument(f"{subject}: AWS refused the request: {message}")
    return ours.CatalogUnavailable(f"{subject}: AWS failed ({code}): {message}")


def _of_hive(error: Any, subject: object) -> ours.PinakesError:
    said = str(getattr(error, "message", None) or error)
    match type(error).__name__:
        case "TTransportException":
            return ours.CatalogUnavailable(
                f"{subject}: the metastore can't be reached: {said}. "
                "Check that it is running and that its address is correct."
            )
        case "NoSuchObjectException" | "UnknownDBException" | "UnknownTableException":
            return ours.NotFoundError(f"{subject} does not exist: {said}")
        case "AlreadyExistsException":
            return ours.AlreadyExistsError(f"{subject} already exists")
        case "InvalidObjectException" | "InvalidInputException" | "InvalidOperationException":
            return ours.InvalidArgument(f"{subject}: the metastore refused: {said}")
    return ours.CatalogUnavailable(f"{subject}: the metastore failed: {said}")
