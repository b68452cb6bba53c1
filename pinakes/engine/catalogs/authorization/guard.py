"""Authorization: the only module that decides whether a user may do something. It checks

    a statement             `statement`, from dispatch (so EXECUTE, too) and from describing (prepared statements)
    a table, view, file …   `relation`, when it is added to a plan of any statement, also within views; and again
                            when a cached plan is reused (`engine/planning/plan_cache.py`)
    a function of rows      `function`
    a procedure             `procedure`, for those of the engine: `CALL system.runtime.x`
    a path of this machine  `files`: FROM 'path', read_csv, COPY, LOCATION, the options of ATTACH
    a property to store     `properties`: of tables, views and namespaces
    a place for files       `places`: LOCATION, and the properties that are locations
    a catalog to mount      `mount`; where it connects to, `outbound`
    an object store         `store`
    a web address           `web`; where it is, `outbound`
    work for Spark          `spark`, when a statement requests it, and again when one is sent
    another's statement     `may_stop`: KILL, `kill_query`
    metadata outside SQL    `metadata`: requests of drivers over Flight SQL, and of a remote shell

Row filters and column masks belong in `relation`, which returns what may be read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

from pinakes.core.errors import InternalError, PermissionDenied, listing
from pinakes.core.secrets import covers
from pinakes.engine.catalogs.authorization.policy import Policy, refusal
from pinakes.engine.catalogs.authorization.rules import PROCEDURES, RULES, TABLE_FUNCTIONS
from pinakes.engine.files.access import FileAccess
from pinakes.providers.registry import runs_commands, uses_server_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pinakes.core.access.outbound import Outbound
    from pinakes.core.identity import Identity
    from pinakes.core.location import Location
    from pinakes.core.secrets import Secret
    from pinakes.engine.binding.relation import Relation
    from pinakes.engine.catalogs.mounting import Common
    from pinakes.engine.catalogs.registry import Mount
    from pinakes.parser.statements import OptionValue, Statement


class Guard:
    """For one user, as the session that asks has them. `everywhere` are the paths that anybody may touch."""

    def __init__(self, identity: Identity, policy: Policy, everywhere: FileAccess) -> None:
        self.identity = identity
        self.policy = policy
        self.files = _files(identity, policy, everywhere)
        """The paths of this machine that this user may read and write."""

    @property
    def rights(self) -> Hashable:
        """All that its answers depend on besides the user's name: a cached object is not reused under others."""
        return self.identity.roles, self.policy.everybody_may, self.files.roots.texts, self.policy.destinations

    def require(self, power: str, what: str) -> None:
        self.policy.require(self.identity, power, what)

    def statement(self, statement: Statement) -> None:
        rule = RULES.get(statement.kind)
        if rule is None:
            raise InternalError(
                f"no privilege is defined for {statement.kind}: see engine/catalogs/authorization/rules.py"
            )
        rule(statement, self)

    def relation(self, relation: Relation) -> Relation:
        """What this user may read of it."""
        return relation

    def function(self, name: str) -> None:
        if name.lower() not in TABLE_FUNCTIONS:
            raise PermissionDenied(f"no privilege is defined for the table function {name}")

    def procedure(self, name: str) -> None:
        """A procedure of the engine, which concerns no table. Whether it exists is checked later."""
        needed = PROCEDURES.get(name)
        if needed is not None:
            self.require(*needed)

    @property
    def outbound(self) -> Outbound | None:
        """Where the server connects for this user; None is anywhere."""
        return self.policy.outbound(self.identity)

    def store(self, secret: Secret) -> None:
        """An object store that is opened with a secret, whose library connects by itself. The endpoint of a shared
        secret was chosen by an administrator."""
        endpoint, outbound = secret.get("ENDPOINT"), self.outbound
        if outbound is not None and endpoint is not None and not secret.shared:
            from pinakes.core.access.outbound import destination_of

            outbound.check(destination_of(endpoint, library=True))

    def web(self) -> None:
        """Files of web addresses; the hosts are those of `outbound`."""
        self.require("attach", "reading files of web addresses")

    def mount(self, location: str, common: Common, options: Mapping[str, OptionValue], paths: list[str]) -> None:
        """What ATTACH is about to mount; `paths` are those of this machine that it would be opened on."""
        if common.visibility == "all":
            self.require("global_settings", "attaching catalogs for everybody (VISIBILITY all)")
        if runs_commands(common.type, location):
            self.require("worker_commands", f"attaching catalogs of type {common.type}, which start a program,")
        if uses_server_credentials(common.type, options, has_secret=common.secret is not None):
            self.require(
                "server_credentials",
                f"attaching a catalog of type {common.type} without a SECRET, or with credentials of the server,",
            )
        for path in paths:
            self.files.local(path)

    @property
    def may_use_spark(self) -> bool:
        return self.policy.may(self.identity, "spark")

    def spark(self) -> None:
        """For all that is sent to Spark: statements, procedures, pipelines."""
        self.require("spark", "running statements on Spark")

    def properties(self, properties: Iterable[tuple[str, str]]) -> None:
        """What a statement is about to store in a table, view or namespace: no property names code, and those that are
        locations are ones that this user may use."""
        if not properties:
            return
        from pinakes.core.access.property_gate import check_properties  # not loaded for a query

        check_properties(key for key, _ in properties)
        for place in _locations(None, properties):
            self.files.location(place)

    def places(self, mount: Mount, location: str | None, properties: Iterable[tuple[str, str]]) -> None:
        """Checks the location of files of a table or namespace. In an object store the credentials are those of the
        catalog; credentials of another user are valid for the catalog's own locations only."""
        for place in _locations(location, properties):
            self.files.location(place)
            is_lent = mount.owner != self.identity.user and not self.policy.may(self.identity, "server_credentials")
            if is_lent and not place.is_local and not any(covers(own, place.identity) for own in mount.places):
                own = f"Choose one below {listing(mount.places)}, or ask" if mount.places else "Ask"
                raise PermissionDenied(
                    f"'{place}' as a location in catalog '{mount.name}' is for administrators here: the credentials of "
                    f"the catalog would be used there. {own} an administrator to create it, or to allow it to "
                    f'everybody: access.everybody_may = ["server_credentials"] in the configuration of the server.'
                )

    def may_stop(self, user: str) -> bool:
        """Whether the statements of `user` may be stopped: users stop their own, administrators all."""
        return self.identity.is_admin or user == self.identity.user

    def metadata(self, what: str) -> None:
        """Metadata that drivers request outside of SQL; each catalog returns what this user may see."""


def _locations(location: str | None, properties: Iterable[tuple[str, str]]) -> list[Location]:
    """The location of a table or namespace, and those that its properties name."""
    from pinakes.core.access.property_gate import PATHS
    from pinakes.core.location import Location  # not loaded for a query

    texts = [location] if location is not None else []
    return [Location.parse(text) for text in (*texts, *(value for key, value in properties if key.lower() in PATHS))]


def _files(identity: Identity, policy: Policy, everywhere: FileAccess) -> FileAccess:
    if policy.may(identity, "local_files"):
        return everywhere if identity.is_admin else everywhere.redacted()
    return FileAccess((), refusal("local_files", "reading and writing files of the server by their path"))
