"""The privileges of users who are not administrators. In an embedded engine everybody has all; a server grants those in
its configuration (`[access]`), and connects for users only to hosts that it allows (`core/access/outbound.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pinakes.core.access.privileges import PRIVILEGES
from pinakes.core.errors import PermissionDenied

if TYPE_CHECKING:
    from pinakes.core.access.outbound import Outbound
    from pinakes.core.identity import Identity


class Policy:
    """No dataclass, which half a millisecond of every start would go into."""

    __slots__ = ("confines", "destinations", "everybody_may")

    def __init__(
        self, powers: Iterable[str], outbound: Iterable[str] | None = ("public",), *, confines: bool = True
    ) -> None:
        self.everybody_may = frozenset(powers)
        self.destinations = None if outbound is None else tuple(outbound)
        self.confines = confines
        """Whether files of tables must be in directories that the configuration names; on a server they must."""

    def may(self, identity: Identity, power: str) -> bool:
        return identity.is_admin or power in self.everybody_may

    def outbound(self, identity: Identity) -> Outbound | None:
        """Where the server connects for this user; None is anywhere."""
        if identity.is_admin or self.destinations is None:
            return None
        from pinakes.core.access.outbound import Outbound  # not loaded by an embedded engine

        return Outbound(self.destinations)

    def require(self, identity: Identity, power: str, what: str) -> None:
        """PermissionDenied, with the requested action, unless this user has the privilege."""
        if not self.may(identity, power):
            raise PermissionDenied(refusal(power, what))


def refusal(power: str, what: str) -> str:
    return (
        f"{what} is for administrators here. Ask one to do it, or to allow it to everybody: "
        f'access.everybody_may = ["{power}"] in the configuration of the server.'
    )


EMBEDDED = Policy(PRIVILEGES, None, confines=False)
"""The policy of an embedded engine, whose user could do all of this without it."""
