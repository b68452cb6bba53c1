"""The request to open a catalog: created by mounting, read by the catalog types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from pinakes.core.secrets import ANONYMOUS, Access

if TYPE_CHECKING:
    from pinakes.parser.statements import OptionValue


_THIS_MACHINE = ("127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Opening:
    """What is to be opened, and with what. Neither location nor options show in a repr: they may hold secrets."""

    type: str
    alias: str
    location: str = field(repr=False)
    options: Mapping[str, OptionValue] = field(repr=False)
    mount_id: str
    access: Access = ANONYMOUS
    roots: tuple[str, ...] | None = None
    """The directories of this machine that files of its tables may be in; None is any."""

    @property
    def origin(self) -> str:
        return origin_of(self.type, self.location)


def origin_of(type: str, location: str) -> str:
    """The same for all mounts of one catalog: its directory, or the host of its server and what of that it is.

    Neither the scheme nor the port is in it, which may be left out or written otherwise; nor is any secret. That of a
    file is the directory that it is in.
    """
    location = location.strip().removeprefix("jdbc:")
    if type == "jdbc" and "://" not in location:  # a server's address may have no scheme
        location = f"jdbc://{location}"
    address = urlsplit(location)
    if address.scheme and address.scheme != "file" and address.netloc:
        host = "localhost" if address.hostname in _THIS_MACHINE else address.hostname
        return f"{host}{address.path.rstrip('/')}"
    path = Path(unquote(address.path) if address.scheme else location).expanduser().resolve()
    return str(path if path.is_dir() else path.parent)
