"""Checks the engine and each configured catalog: whether it responds, and how fast.

Each catalog is checked on its own thread, all concurrently; one that does not respond is abandoned after the timeout.
Nothing is created: a catalog at a location that does not exist yet is not opened.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.cli.subcommands.doctor.finding import Finding, Patient, note, ok, problem, warning
from pinakes.config.model import MEMORY, Config
from pinakes.core.errors import PinakesError

if TYPE_CHECKING:
    from pinakes.engine.catalogs.mounts import Mounted

SLOW = 1.0
"""Seconds after which a slow response is a warning."""
ADVICE = "check its location, its options and its secret in the configuration, and that it can be reached from here"


def engine(patient: Patient) -> Iterator[Finding]:
    """Runs a query on a temporary catalog."""
    from pinakes.api.build import open_engine

    config = patient.config or Config()
    alone = replace(config, engine=replace(config.engine, data=MEMORY), catalogs={})
    began = time.perf_counter()
    with open_engine(alone) as opened:
        rows = opened.session().run("SELECT 6 * 7 AS answer").read_all().to_pylist()
    seconds = time.perf_counter() - began
    if rows != [{"answer": 42}]:
        yield problem("engine", f"SELECT 6 * 7 gave {rows}", "reinstall Pinakes: pip install --force-reinstall pinakes")
    else:
        yield ok("engine", "runs a query", seconds=seconds)


def catalogs(patient: Patient) -> Iterator[Finding]:
    if patient.config is None:
        yield warning("catalogs", "not checked", "the configuration has to be right first")
        return
    from pinakes.api.build import open_engine

    opened = open_engine(patient.config)  # not closed: a hanging catalog would block; it ends with the process
    checks = [_CatalogCheck(mount, _place(patient.config, mount)) for mount in opened.session().catalogs.attached()]
    for one in checks:
        one.start()
    until = time.monotonic() + patient.timeout
    for one in checks:
        one.over.wait(max(0.0, until - time.monotonic()))
    yield from (one.finding(patient.timeout) for one in checks)


def _place(config: Config, mount: Mounted) -> Path | None:
    """Returns the local directory or file that opening the catalog would create; None if it creates none."""
    if mount.type.lower() != "sqlite":
        return None
    given = config.catalogs[mount.name].location if mount.name in config.catalogs else config.engine.data
    if not given or given == MEMORY or "://" in given:
        return None
    path = (config.source.parent if config.source is not None else Path()) / Path(given).expanduser()
    return path / "catalog.db" if path.is_dir() else path


@dataclass(slots=True)
class _CatalogCheck:
    """The check of one catalog, and its result."""

    mount: Mounted
    place: Path | None
    over: threading.Event = field(default_factory=threading.Event)
    seconds: float = 0.0
    namespaces: int | None = None
    failure: BaseException | None = None

    def start(self) -> None:
        if self.place is not None and not self.place.exists():
            self.over.set()
        else:
            threading.Thread(target=self._check, daemon=True, name=f"doctor {self.mount.name}").start()

    def finding(self, timeout: float) -> Finding:
        name = f"catalog {self.mount.name}"
        kind = f"type {self.mount.type}"
        if not self.over.is_set():
            return problem(name, f"{kind}: no answer within {timeout:g} s", ADVICE)
        if self.failure is not None:
            return problem(name, f"{kind}: {_error_text(self.failure)}", ADVICE)
        if self.namespaces is None:
            return self._not_there(name, kind)
        detail = f"{kind}: answers, {self.namespaces} namespace{'' if self.namespaces == 1 else 's'}"
        if self.seconds > SLOW:
            slow = warning(name, detail, "it is slow: look at the network between, and at the load of its server")
            return replace(slow, seconds=self.seconds)
        return ok(name, detail, seconds=self.seconds)

    def _not_there(self, name: str, kind: str) -> Finding:
        if self.mount.name == "lake":
            return note(name, f"{kind}: {self.place} is made at first use")
        return warning(name, f"{kind}: {self.place} does not exist and is made, empty, at first use",
                       "if there should be data in it, correct its location")  # fmt: skip

    def _check(self) -> None:
        from pinakes.core.catalog import SupportsNamespaces

        began = time.perf_counter()
        try:
            catalog = self.mount.catalog
            catalog.check()
            listed = catalog.list_namespaces() if isinstance(catalog, SupportsNamespaces) else ()
            self.namespaces = len(listed)
        except BaseException as error:  # noqa: BLE001 - any exception is the result of the check
            self.failure = error
        self.seconds = time.perf_counter() - began
        self.over.set()


def _error_text(error: BaseException) -> str:
    return error.render() if isinstance(error, PinakesError) else f"{type(error).__name__}: {error}"
