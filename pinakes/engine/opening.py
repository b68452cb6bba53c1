"""What it takes to open a catalog: made by whoever mounts one, read by whoever knows the catalog types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pinakes.core.secrets import ANONYMOUS, Access

if TYPE_CHECKING:
    from pinakes.parser.statements import OptionValue


@dataclass(frozen=True, slots=True)
class Opening:
    """What is to be opened, and with what. Neither location nor options show in a repr: they may hold secrets."""

    type: str
    alias: str
    location: str = field(repr=False)
    options: Mapping[str, OptionValue] = field(repr=False)
    mount_id: str
    access: Access = ANONYMOUS
