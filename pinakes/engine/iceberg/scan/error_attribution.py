"""Finds the file that an error is about, when DataFusion fails to read the files of a table in an object store."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from pinakes.core.errors import PinakesError
from pinakes.engine.datafusion.store_errors import store_error
from pinakes.engine.iceberg.scan.file_integrity import Lookout, Remote

_SENSELESS = re.compile(r"Parquet|footer|EOF|[Cc]orrupt|decod|decompress")


@contextmanager
def blaming(files: Iterable[Remote]) -> Iterator[None]:
    """Translates errors while files of object stores are read natively."""
    try:
        yield
    except PinakesError:
        raise
    except Exception as error:
        read = list(files)
        attributed = store_error(error, read) or _found(error, read)
        if attributed is None:
            raise
        raise attributed from error


def _found(error: Exception, files: Sequence[Remote]) -> PinakesError | None:
    """Checks the files when DataFusion cannot decode one and does not report which."""
    if not files or not _SENSELESS.search(str(error)):
        return None
    lookout = Lookout(files)
    try:
        lookout.wait()
    except PinakesError as found:
        return found
    finally:
        lookout.close()
    return None
