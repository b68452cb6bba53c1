"""Random changes and queries, over several sessions, users, mounts and from outside, against a model of what is seen.

Three sessions of two users read and change tables of one directory through two mounts of it (`one` has a secret, `own`
passes each user's token on) and through `two`, which is attached, replaced and detached. A stranger, another engine,
changes the same tables. Where the model allows several states it is because the stranger changed something lately.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pinakes.api.build import open_engine
from pinakes.config.model import Config, EngineConfig
from pinakes.core.errors import CommitConflict, NamespaceNotFound, TableNotFound
from pinakes.core.identity import Identity
from pinakes.engine.session import Session
from tests.caches.test_base import FakeClock
from tests.engine.cache_model import TTL, Open, Past, Seen, together
from tests.engine.guarded_catalog import GOLD, HIDDEN, TIN

TABLES = ("a", "b", HIDDEN)
SESSIONS = ("alice", "alice again", "bob")
MOUNTS = ("one", "own", "two")
VIEW = "w"
CACHES = ("statements", "listings", "table_metadata", "clients", "session_catalogs", "plans", "manifests", "results")

sessions, tables = st.sampled_from(SESSIONS), st.sampled_from(TABLES)


class CacheRules(RuleBasedStateMachine):
    hits: ClassVar[Counter[str]] = Counter()
    """Over all that were run: what is never hit is not tested."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="pinakes-rules-"))
        self.clock = FakeClock()
        config = Config(engine=replace(EngineConfig(), data=str(self.directory / "lake")))
        self.engine = open_engine(config, clock=self.clock)
        self.outside = open_engine(replace(config, engine=replace(config.engine, data=str(self.directory / "other"))))
        people = {"alice": Identity("alice", GOLD, frozenset({"admin"})), "bob": Identity("bob", TIN)}
        self.sessions = {name: self.engine.session(people[name.split()[0]]) for name in SESSIONS}
        self.admin = self.engine.session(people["alice"])
        self.past: dict[tuple[str, str], Past] = defaultdict(Past)
        self.view: tuple[str, int] | None = None
        self.open: dict[str, Open] = {}
        self.number = self.steps = 0
        self.secret = GOLD
        self.two: str | None = None
        self._mount()

    def _mount(self) -> None:
        self.stranger = self.outside.session()
        self.admin.run(f"CREATE SHARED SECRET gate (TYPE bearer, TOKEN '{GOLD}')")
        first, second = self.directory / "first", self.directory / "second"
        self.admin.run(f"ATTACH '{first}' AS one (TYPE guarded, CATALOG_NAME 'w', SECRET gate, VISIBILITY all)")
        self.admin.run(f"ATTACH '{first}' AS own (TYPE guarded, CATALOG_NAME 'w', PASS_TOKEN true, VISIBILITY all)")
        self.admin.run("CREATE SCHEMA one.s")
        for name, place in (("first", first), ("second", second)):
            self.stranger.run(f"ATTACH '{place}' AS {name} (TYPE sqlite, CATALOG_NAME 'w')")
        self.stranger.run("CREATE SCHEMA second.s")
        for table in TABLES:  # so that there is something from the beginning
            self.change("alice", "one", table, "insert")

    def teardown(self) -> None:
        self.hits.update({stats.name: stats.hits for stats in self.engine.caches.stats()})
        self.engine.close()
        self.outside.close()
        shutil.rmtree(self.directory)

    # --- what the model knows -------------------------------------------------------------------------------------

    def _place(self, mount: str) -> str | None:
        """The directory behind a mount."""
        return self.two if mount == "two" else "first"

    def _may_see(self, session: str, mount: str, table: str) -> bool:
        token = {"one": self.secret, "own": GOLD if session.startswith("alice") else TIN, "two": GOLD}[mount]
        return table != HIDDEN or token == GOLD

    def _past(self, mount: str, table: str) -> Past:
        place = self._place(mount)
        assert place is not None
        return self.past[place, table]

    def _allowed(self, session: str, mount: str, table: str) -> set[Seen]:
        if self._place(mount) is None or not self._may_see(session, mount, table):
            return {None}
        return self._past(mount, table).allowed(self.clock.now)

    def _next(self) -> int:
        self.number += 1
        return self.number

    # --- changes through the engine -------------------------------------------------------------------------------

    @rule(
        session=sessions,
        mount=st.sampled_from(MOUNTS),
        table=tables,
        what=st.sampled_from(["insert", "insert", "replace", "drop", "empty"]),
    )
    def change(self, session: str, mount: str, table: str, what: str) -> None:
        if self._place(mount) is None or not self._may_see(session, mount, table):
            return
        if session in self.open:
            self._change_within(session, mount, table, what)
            return
        past, name = self._past(mount, table), f"{mount}.s.{table}"
        sql, seen = self._changed(past.now, what)
        self.sessions[session].run(sql.format(name))
        past.becomes(seen, self.clock.now, ours=True)

    def _changed(self, seen: Seen, what: str) -> tuple[str, Seen]:
        """A statement, and what it makes of rows."""
        number = self._next()
        if seen is None or what == "replace":
            return f"CREATE OR REPLACE TABLE {{}} AS SELECT {number} AS v", frozenset({number})
        if what == "drop":
            return "DROP TABLE {}", None
        if what == "empty" and seen:
            return "DELETE FROM {}", frozenset()
        return f"INSERT INTO {{}} VALUES ({number})", seen | {number}

    @rule(session=sessions, mount=st.sampled_from(("one", "own")), table=tables)
    def drop_if_it_exists(self, session: str, mount: str, table: str) -> None:
        """No error, whatever is remembered: it may have been dropped outside."""
        if session not in self.open and self._may_see(session, mount, table):
            self.sessions[session].run(f"DROP TABLE IF EXISTS {mount}.s.{table}")
            self._past(mount, table).becomes(None, self.clock.now, ours=True)

    @rule(session=sessions, table=tables, drop=st.booleans())
    def change_view(self, session: str, table: str, drop: bool) -> None:
        """A view has another table each time, and adds a number of its own to its rows."""
        may_see = self._past("one", table).now is not None and self._may_see(session, "one", table)
        if session in self.open or not may_see:
            return
        if self.view is not None and drop:
            self.sessions[session].run(f"DROP VIEW one.s.{VIEW}")
            self.view = None
        else:
            added = 1000 * self._next()
            try:
                select = f"SELECT v + {added} AS v FROM one.s.{table}"
                self.sessions[session].run(f"CREATE OR REPLACE VIEW one.s.{VIEW} AS {select}")
            except TableNotFound:  # it was made outside, a moment ago
                assert None in self._allowed(session, "one", table)
                return
            self.view = table, added

    # --- transactions ---------------------------------------------------------------------------------------------

    @rule(session=sessions)
    def begin(self, session: str) -> None:
        if session not in self.open:
            self.sessions[session].run("BEGIN")
            self.open[session] = Open()

    def _change_within(self, session: str, mount: str, table: str, what: str) -> None:
        """Only rows change, of tables of one mount that stays; anything else is refused and aborts."""
        transaction, past = self.open[session], self._past(mount, table)
        if not self._can_use(transaction, mount, table) or transaction.changed_mount not in (None, mount):
            return
        pinned = transaction.pin(mount, table, past)
        sql, pinned.seen = self._changed(pinned.seen, "empty" if what == "empty" else "insert")
        self.sessions[session].run(sql.format(f"{mount}.s.{table}"))
        pinned.is_changed = True

    def _can_use(self, transaction: Open, mount: str, table: str) -> bool:
        """A table that is there, or was and is not gone with its files since; not what a secret may hide by now."""
        if mount == "two" or table == HIDDEN:
            return False
        past, pinned = self._past(mount, table), transaction.pinned.get((mount, table))
        return past.now is not None if pinned is None else not past.was_dropped_since(pinned.version)

    @rule(session=sessions, commits=st.booleans())
    def end(self, session: str, commits: bool) -> None:
        transaction = self.open.pop(session, None)
        if transaction is None:
            return
        if not commits:
            self.sessions[session].run("ROLLBACK")
            return
        changed = transaction.changed
        try:
            self.sessions[session].run("COMMIT")
        except (CommitConflict, TableNotFound):
            assert any(pinned.is_overtaken for pinned in changed)
            return
        assert not any(pinned.is_overtaken for pinned in changed)
        for pinned in changed:
            pinned.past.becomes(pinned.seen, self.clock.now, ours=True)

    # --- catalogs and rights --------------------------------------------------------------------------------------

    @rule(token=st.sampled_from([GOLD, TIN]))
    def replace_secret(self, token: str) -> None:
        self.admin.run(f"CREATE OR REPLACE SHARED SECRET gate (TYPE bearer, TOKEN '{token}')")
        self.secret = token

    @rule(place=st.sampled_from(["first", "second"]))
    def attach(self, place: str) -> None:
        options = "(TYPE sqlite, CATALOG_NAME 'w', VISIBILITY all)"
        self.admin.run(f"ATTACH OR REPLACE '{self.directory / place}' AS two {options}")
        self.two = place

    @precondition(lambda self: self.two is not None)
    @rule()
    def detach(self) -> None:
        gone = str(self.admin.catalogs.get("two").mount.id)
        self.admin.run("DETACH two")
        self.two = None
        kept = [key for cache in self.engine.caches.every() for key in cache.keys()]  # noqa: SIM118 - no mapping
        assert gone not in {getattr(key, "mount", None) for key in kept}

    # --- from outside ---------------------------------------------------------------------------------------------

    @rule(place=st.sampled_from(["first", "second"]), table=tables, drop=st.booleans())
    def change_outside(self, place: str, table: str, drop: bool) -> None:
        past = self.past[place, table]
        sql, seen = self._changed(past.now, "drop" if drop else "insert")
        self.stranger.run(sql.format(f"{place}.s.{table}"))
        past.becomes(seen, self.clock.now, ours=False)

    @rule(seconds=st.sampled_from([1.0, TTL / 3, TTL - 1, TTL, 2 * TTL, 20 * TTL]))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += seconds

    # --- how the engine is set ------------------------------------------------------------------------------------

    @rule(session=sessions, on=st.booleans())
    def remember_results(self, session: str, on: bool) -> None:
        self.sessions[session].run(f"SET result_cache = {str(on).lower()}")

    @rule(cache=st.sampled_from(["listings", "table_metadata", "clients", "session_catalogs", "plans", None]))
    def limit(self, cache: str | None) -> None:
        """One of them keeps next to nothing, the others what they are meant to."""
        self.admin.run("RESET GLOBAL ALL")
        if cache is not None:
            self.admin.run(f"SET GLOBAL cache.{cache}.max_entries = {self.number % 2}")

    @rule(little=st.booleans())
    def bound_memory(self, little: bool) -> None:
        """All caches together get room for a few entries, or as much as they are meant to have."""
        self.admin.run("SET GLOBAL cache.memory_budget = '200KB'" if little else "RESET GLOBAL cache.memory_budget")

    @rule(cache=st.sampled_from([*CACHES, "all"]), table=st.sampled_from([*TABLES, None]))
    def flush(self, cache: str, table: str | None) -> None:
        """All of a cache; or what it has of a table, if that is surely there and has such entries."""
        is_there = table is not None and None not in self._allowed("alice", "one", table)
        of_table = is_there and cache in ("listings", "table_metadata", "session_catalogs", "manifests", "all")
        target = f", 'one.s.{table}'" if of_table else ""
        self.admin.run(f"CALL system.runtime.flush_cache('{cache}'{target})")

    # --- queries --------------------------------------------------------------------------------------------------

    @invariant()
    def everything_is_seen_as_it_may_be(self) -> None:
        """By one session after each step, in turn: so what is remembered is of different ages."""
        session = SESSIONS[self.steps % len(SESSIONS)]
        self.steps += 1
        if session in self.open:
            self._check_within(session)
            return
        for mount in MOUNTS:
            for table in TABLES:
                self._check_rows(session, mount, table)
        self._check_both(session)
        self._check_view(session)

    def _check_rows(self, session: str, mount: str, table: str) -> None:
        allowed = self._allowed(session, mount, table)
        if allowed == {None} and self.steps % 4:  # to look for what is not there makes the engine forget its listings
            return
        assert self._read(self.sessions[session], mount, f"SELECT v FROM {mount}.s.{table}") in allowed

    def _check_within(self, session: str) -> None:
        """A transaction reads each table as it was at its first use, which is now or before, with its own changes."""
        transaction = self.open[session]
        for mount in ("one", "own"):
            for table in TABLES:
                if self._can_use(transaction, mount, table):
                    pinned = transaction.pin(mount, table, self._past(mount, table))
                    assert self._read(self.sessions[session], mount, f"SELECT v FROM {mount}.s.{table}") == pinned.seen

    def _check_both(self, session: str) -> None:
        """One query over two mounts: each as it may be seen."""
        allowed = together(self._allowed(session, "own", "a"), self._allowed(session, "one", "b"))
        sql = "SELECT v FROM own.s.a UNION ALL SELECT v FROM one.s.b"
        assert allowed == {None} or self._read(self.sessions[session], "own", sql) in allowed

    def _check_view(self, session: str) -> None:
        if self.view is None and self.steps % 4:
            return
        seen = self._read(self.sessions[session], "one", f"SELECT v FROM one.s.{VIEW}")
        if self.view is None:
            assert seen is None
            return
        table, added = self.view
        allowed = self._allowed(session, "one", table)
        assert seen in {None if rows is None else frozenset(v + added for v in rows) for rows in allowed}

    def _read(self, session: Session, mount: str, sql: str) -> Seen:
        try:
            return frozenset(session.run(sql).read_all().column(0).to_pylist())
        except TableNotFound:
            return None
        except NamespaceNotFound:  # also a catalog that is not attached might be one
            assert self._place(mount) is None
            return None

    @rule(session=sessions, mount=st.sampled_from(("one", "own")))
    def list_tables(self, session: str, mount: str) -> None:
        listed = self.sessions[session].run(f"SHOW TABLES IN {mount}.s").read_all().column(0).to_pylist()
        pinned = self.open[session].pinned if session in self.open else {}
        for table in TABLES:
            allowed = {seen is not None for seen in self._allowed(session, mount, table)}
            assert (table in listed) in ({True} if (mount, table) in pinned else allowed)

    @invariant()
    def nobody_waits(self) -> None:
        assert all(not cache._flights for cache in self.engine.caches.every())

    @invariant()
    def memory_is_bounded(self) -> None:
        assert self.engine.caches.budget.nbytes <= self.engine.caches.budget.limit
