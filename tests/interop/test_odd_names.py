"""Names with dots, spaces, quotes and other characters, at any depth: what is written is read, here and elsewhere.

The files have such names in a form that Avro could have (`b c` as `b_x20c`), and two of them may come to the same.
"""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.engine.support import Row, do, how_many, rows
from tests.interop.peers import DuckDB, Lake, Peer, PyIceberg, plain

_CHARACTERS = "ab1._ -\"'`[]{}(),;:/\\%$#@!?*+=<>|&^~\tßñ日😀"
_NAMES = st.one_of(
    st.text(_CHARACTERS, min_size=1, max_size=6),
    st.sampled_from(["m.n", "a b", "a_x20b", "a_x2Eb", "a.b.c", ".", "..", "a.", ".a", "1a", "_1a", "element", "key"]),
).filter(lambda name: name.strip() == name)


def _different(names: list[str]) -> bool:
    """Names are told apart without regard to case, and `a.b` may not be a column beside a field b of a."""
    lower = [name.lower() for name in names]
    return len({*lower}) == len(lower)


_COLUMNS = st.lists(_NAMES, min_size=7, max_size=7).filter(_different)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


class _Table:
    """A table that has each name at another depth, and what its rows must be."""

    def __init__(self, lake: Lake, names: list[str]) -> None:
        self.session = lake.session
        self.number, self.part, self.struct, self.field, self.inner, self.list, self.map = names
        self.columns = ("k", self.number, self.part, self.struct, self.list, self.map)

    def made(self, name: str) -> None:
        f, i = _quoted(self.field), _quoted(self.inner)
        do(self.session, f"DROP TABLE IF EXISTS {name}")
        types = (
            "INT",
            "BIGINT",
            "VARCHAR",
            f"STRUCT<{f} INT, deep STRUCT<{i} VARCHAR>>",
            f"ARRAY<STRUCT<{i} INT, {f} INT>>",
            f"MAP<VARCHAR, STRUCT<{f} INT>>",
        )
        defined = ", ".join(f"{_quoted(c)} {t}" for c, t in zip(self.columns, types, strict=True))
        do(self.session, f"CREATE TABLE {name} ({defined}) PARTITIONED BY ({_quoted(self.part)})")

    def insert(self, name: str, *numbers: int) -> None:
        f, i = _text(self.field), _text(self.inner)
        values = (
            f"({n}, {n * 10}, 'p{n % 2}', {{{f}: {n}, 'deep': {{{i}: 'v{n}'}}}}, [{{{i}: {n}, {f}: -{n}}}],"
            f" MAP {{'x': {{{f}: {n}}}}})"
            for n in numbers
        )
        do(self.session, f"INSERT INTO {name} VALUES {', '.join(values)}")

    def row(self, n: int, number: int | None = None) -> Row:
        return _plain(
            n,
            n * 10 if number is None else number,
            f"p{n % 2}",
            {self.field: n, "deep": {self.inner: f"v{n}"}},
            [{self.inner: n, self.field: -n}],
            {"x": {self.field: n}},
        )

    def rows(self, what: str) -> list[Row]:
        return sorted(plain(self.session.run(f"SELECT * FROM {what}").read_all()))


def _plain(*values: Any) -> Row:
    def one(value: Any) -> Any:
        if isinstance(value, dict):
            return tuple((key, one(v)) for key, v in value.items())
        return tuple(one(v) for v in value) if isinstance(value, list) else value

    return tuple(one(v) for v in values)


@settings(max_examples=how_many(12, 300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_COLUMNS)
@example(["m.n", "a b", "a_x20b", "f.g", "i j", "l.1", "m[0]"])
@example(["a.b", "a_x2Eb", "a", "c.d", "c_x2Ed", "1", "_1"])
def test_what_is_written_is_read(lake: Lake, pyiceberg: PyIceberg, duck: DuckDB, names: list[str]) -> None:
    table, number = _Table(lake, names), _quoted(names[0])
    # DuckDB ends its process on a manifest that has a partition field with letters beyond ASCII.
    peers = (pyiceberg, duck) if table.part.isascii() else (pyiceberg,)
    table.made("odd")
    table.insert("odd", 1, 2)
    table.insert("odd", 3)
    wanted = [table.row(n) for n in (1, 2, 3)]
    assert table.rows("odd") == wanted

    def where(condition: str) -> list[Any]:
        return sorted(k for (k,) in rows(table.session, f"SELECT k FROM odd WHERE {condition}"))

    struct = _quoted(table.struct)
    assert where(f"{number} > 15") == [2, 3]
    assert where(f"odd.{number} = 30 AND odd.{_quoted(table.part)} = 'p1'") == [3]
    assert where(f"{_quoted(table.part)} IN ('p0')") == [2]
    assert where(f"{struct}[{_text(table.field)}] >= 2") == [2, 3]
    assert where(f"{struct}['deep'][{_text(table.inner)}] = 'v1'") == [1]
    for on_read in ("copy-on-write", "merge-on-read"):
        mode = ", ".join(f"'write.{change}.mode' = '{on_read}'" for change in ("update", "delete", "merge"))
        do(table.session, f"ALTER TABLE odd SET TBLPROPERTIES ({mode})")
        do(table.session, f"UPDATE odd SET {number} = {number} + 1 WHERE {number} = 10 OR {number} = 11")
        do(table.session, f"DELETE FROM odd WHERE {number} = 30")
        table.insert("odd", 3)
    merged = (
        f"MERGE INTO odd USING (SELECT 20 AS n) AS s ON odd.{number} = s.n WHEN MATCHED THEN UPDATE SET {number} = 21"
    )
    do(table.session, merged)
    wanted = [table.row(1, 12), table.row(2, 21), table.row(3)]
    assert table.rows("odd") == wanted
    _others_agree(lake, peers, wanted)
    found = rows(table.session, "CALL system.rewrite_data_files('odd', options => MAP {'rewrite-all': 'true'})")
    assert found[0][0] > 0
    assert table.rows("odd") == wanted
    _others_agree(lake, peers, wanted)
    do(table.session, "DROP TABLE IF EXISTS copied")
    do(table.session, "CREATE TABLE copied AS SELECT * FROM odd")
    assert table.rows("copied") == wanted
    do(table.session, "INSERT INTO copied SELECT * FROM odd")
    assert table.rows("copied") == sorted(wanted * 2)


def _others_agree(lake: Lake, peers: tuple[Peer, ...], wanted: list[Row]) -> None:
    for peer in peers:
        assert sorted(peer.rows(lake, "odd")) == wanted, type(peer).__name__
