"""What an object store says, as pyarrow tells it: the error it becomes, and that its words are not kept."""

from __future__ import annotations

import pytest

from pinakes.core.errors import CatalogUnavailable, FileNotFound, InvalidArgument, PermissionDenied, PinakesError
from pinakes.engine.files.object_stores.errors import store_error

CASES: list[tuple[str, type[PinakesError]]] = [
    ("AWS Error ACCESS_DENIED during HeadObject operation: No response body.", PermissionDenied),
    ("AWS Error SIGNATURE_DOES_NOT_MATCH during ListObjectsV2 operation: hunter2", PermissionDenied),
    ("AWS Error INVALID_ACCESS_KEY_ID during ListObjectsV2 operation: hunter2", PermissionDenied),
    ("AWS Error UNKNOWN (HTTP status 400) during HeadObject operation: No response body.", PermissionDenied),
    (
        "AWS Error UNKNOWN (HTTP status 404) during ListObjectsV2 operation: Unable to parse ExceptionName: "
        "XAdminUserNotFound Message: hunter2",
        PermissionDenied,
    ),
    (
        "AWS Error UNKNOWN (HTTP status 400) during ListObjectsV2 operation: Unable to parse ExceptionName: "
        "ExpiredToken Message: hunter2",
        PermissionDenied,
    ),
    ("AWS Error NO_SUCH_BUCKET during ListObjectsV2 operation: The specified bucket does not exist.", FileNotFound),
    ("AWS Error UNKNOWN (HTTP status 301) during HeadObject operation: No response body.", InvalidArgument),
    ("AWS Error VALIDATION during HeadObject operation: Invalid DNS Label found in URI host", InvalidArgument),
    ("AWS Error [code 103] during HeadObject operation: Custom endpoint `x` was not a valid URI", InvalidArgument),
    ("AWS Error NETWORK_CONNECTION during HeadObject operation: curlCode: 7, hunter2", CatalogUnavailable),
    ("AWS Error SLOW_DOWN during GetObject operation: Reduce your request rate.", CatalogUnavailable),
    ("AWS Error UNKNOWN (HTTP status 418) during GetObject operation: hunter2", CatalogUnavailable),
]


@pytest.mark.parametrize(("text", "kind"), CASES)
def test_what_a_store_says(text: str, kind: type[PinakesError]) -> None:
    error = OSError(f"When reading information for key 'x' in bucket 'b': {text}")
    ours = store_error(error, "s3://b/x", "mine")
    assert type(ours) is kind
    assert "secret 'mine'" in str(ours)
    assert "hunter2" not in f"{ours} {error} {error!r}"


def test_what_is_not_said_by_a_store() -> None:
    error = OSError("Truncated file")
    assert store_error(error, "s3://b/x", "mine") is None
    assert str(error) == "Truncated file"
