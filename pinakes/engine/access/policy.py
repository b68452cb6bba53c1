"""What users may do who are no administrators. An embedded engine lets everybody do everything; a server lets them do
what its configuration says (`[access]`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pinakes.core.errors import PermissionDenied
from pinakes.core.powers import POWERS

if TYPE_CHECKING:
    from pinakes.core.identity import Identity


class Policy:
    """No dataclass, which half a millisecond of every start would go into."""

    __slots__ = ("confines", "everybody_may")

    def __init__(self, powers: Iterable[str], *, confines: bool = True) -> None:
        self.everybody_may = frozenset(powers)
        self.confines = confines
        """Whether files of tables must be in directories that the configuration names; on a server they must."""

    def may(self, identity: Identity, power: str) -> bool:
        return identity.is_admin or power in self.everybody_may

    def require(self, identity: Identity, power: str, what: str) -> None:
        """PermissionDenied, saying what was asked for, unless this user may."""
        if not self.may(identity, power):
            raise PermissionDenied(refusal(power, what))


def refusal(power: str, what: str) -> str:
    return (
        f"{what} is for administrators here. Ask one to do it, or to allow it to everybody: "
        f'access.everybody_may = ["{power}"] in the configuration of the server.'
    )


EMBEDDED = Policy(POWERS, confines=False)
"""Whoever runs an engine in their own process can do all of this without it."""
