"""Secrets: a value that stands in a statement shows nowhere, whatever becomes of the statement.

Values are planted in statements that work, that fail, that can't be read, that were never finished; then every place
where text is kept or shown is searched for them.
"""

from __future__ import annotations

import gc
import logging
import traceback
from collections.abc import Iterator

import pytest

from pinakes.core.errors import PinakesError
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from pinakes.parser import classify, mask
from tests.engine.support import an_engine

PLANTED = "hunter2zQ9"
"""In every secret value. The text around it is what varies."""

STATEMENTS = {
    # They are carried out, or refused for another reason than their text.
    "attach": "ATTACH '/nowhere/x' AS a (TYPE iceberg_rest, TOKEN '{s}', CLIENT_SECRET '{s}')",
    "attach sqlite": "ATTACH '${TMP}/a' AS a (TYPE sqlite, PASSWORD '{s}')",
    "attach unknown type": "ATTACH 'x' AS a (TYPE nonsense, TOKEN '{s}')",
    "attach address": "ATTACH 'postgresql://ada:{s}@127.0.0.1:1/db' AS a (TYPE jdbc)",
    "attach query string": "ATTACH 'https://h/x?sig={s}&y=1' AS a (TYPE iceberg_rest)",
    "attach dsn": "ATTACH 'host=h user=ada password={s}' AS a (TYPE jdbc)",
    "attach twice": "ATTACH 'x' AS lake (TYPE sqlite, WAREHOUSE '/nowhere', TOKEN '{s}')",
    "attach option twice": "ATTACH 'x' AS a (TYPE sqlite, TOKEN '{s}', TOKEN '{s}')",
    "attach number": "ATTACH 'x' AS a (TYPE sqlite, PIN 4711{s})",
    "create secret": "CREATE SECRET k (TYPE s3, KEY_ID 'AKIA{s}', SECRET '{s}', SESSION_TOKEN '{s}')",
    "create or replace secret": "CREATE OR REPLACE SHARED SECRET k (TYPE s3, SECRET = '{s}')",
    "create catalog": "CREATE CATALOG c USING iceberg_rest WITH (TOKEN = '{s}')",
    "set": "SET api_token = '{s}'",
    "set session": "SET SESSION my_password TO '{s}'",
    "set bare": "SET secret_key = {s}",
    "prepare": "PREPARE p AS ATTACH 'x' AS a (TYPE sqlite, TOKEN '{s}')",
    "explain": "EXPLAIN CREATE SECRET k (TYPE s3, SECRET '{s}')",
    "dollar quotes": "CREATE SECRET k (TYPE s3, SECRET $${s}$$)",
    "escapes": "CREATE SECRET k (TYPE s3, SECRET 'it''s {s} ''quoted''')",
    # Comments: yesterday's password is often there.
    "comment before": "/* was {s} */ CREATE SECRET k (TYPE s3, SECRET 'x')",
    "comment within": "CREATE SECRET k ( -- {s}\n TYPE s3, /* {s} */ SECRET '{s}')",
    "comment after": "ATTACH 'x' AS a (TYPE sqlite, TOKEN '{s}') -- {s}",
    # They can't be read.
    "no bracket": "CREATE SECRET k (TYPE s3, SECRET '{s}'",
    "no value": "CREATE SECRET k (TYPE s3, SECRET",
    "no quote": "CREATE SECRET k (TYPE s3, SECRET '{s}",
    "no quote at the beginning": "CREATE SECRET k (TYPE s3, SECRET {s}')",
    "no comma": "CREATE SECRET k (TYPE s3 KEY_ID 'a' SECRET '{s}')",
    "misspelt": "CREAT SECRET k (TYPE s3, SECRET '{s}')",
    "misspelt attach": "ATACH 'x' AS a (TYPE sqlite, TOKEN '{s}')",
    "misspelt secret": "CREATE SECRT k (TYPE s3, SECRET '{s}')",
    "wrong quotes": 'CREATE SECRET k (TYPE s3, SECRET "{s}")',
    "backquotes": "CREATE SECRET k (TYPE s3, SECRET `{s}`)",
    "one too many": "CREATE SECRET k (TYPE s3, SECRET '{s}') '{s}'",
    "unknown word": "ATTACH 'x' AS a (TYPE sqlite, TOKEN '{s}') FOREVER",
    "unterminated comment": "CREATE SECRET k (TYPE s3, SECRET '{s}') /* {s}",
    "unterminated dollar": "CREATE SECRET k (TYPE s3, SECRET $${s}",
    "nul": "CREATE SECRET k (TYPE s3, SECRET '{s}')\x00",
    "two statements": "SELECT 1; CREATE SECRET k (TYPE s3, SECRET '{s}')",
    "set unterminated": "SET api_token = '{s}",
    "prepare unterminated": "PREPARE p AS CREATE SECRET k (TYPE s3, SECRET '{s}",
    "password in a query": "SELECT * FROM 'postgresql://ada:{s}@h/db'",
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with an_engine() as engine:
        yield engine


@pytest.fixture
def session(engine: Engine) -> Session:
    return engine.session()


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_planted_value_shows_nowhere(
    engine: Engine, session: Session, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    sql = STATEMENTS[name].replace("{s}", PLANTED)
    caplog.set_level(logging.DEBUG)
    texts = outcome(session, sql)
    texts["mask"] = mask(sql)
    texts["tracker"] = "\n".join(repr(info) for info in engine.tracker.snapshot())
    texts["log"] = "\n".join(f"{record.getMessage()} {record.args!r} {record.exc_text}" for record in caplog.records)
    texts["warnings"] = "\n".join(session.warnings)
    texts["statement cache"] = cached(engine)
    texts["catalogs"] = "\n".join(repr(mount) for mount in engine.registry.everything())
    if "FROM 'postgresql:" in sql:
        del texts["statement"]  # the name of a table is part of what the statement is
    for place, text in texts.items():
        assert PLANTED not in text, f"{place}: {text}"
    assert engine.tracker.snapshot()[-1].shown or texts["error"], "the tracker knows no text"


def outcome(session: Session, sql: str) -> dict[str, str]:
    """What can be seen of a statement: how it is shown, and its error in every form."""
    texts = {"error": "", "statement": ""}
    try:
        statement = classify(sql)
        texts["statement"] = repr(statement)
        texts["shown"] = statement.shown
    except PinakesError as error:
        texts |= {f"parser's {what}": text for what, text in forms(error).items()}
    try:
        session.run(sql).close()
    except PinakesError as error:
        texts |= forms(error)
    return texts


def forms(error: PinakesError) -> dict[str, str]:
    """As a program may print it. The lines of source that a traceback shows are this test's own."""
    return {
        "error": f"{error} {error!r} {error.message} {error.args!r}",
        "position": repr(error.position),
        "traceback": "".join(traceback.format_exception(error)),
        "chain": "\n".join(f"{e!r} {e}" for e in chain(error)),
    }


def chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def cached(engine: Engine) -> str:
    """Whatever any cache holds."""
    every = (found for cache in engine.caches.every() for found in cache._store.entries())
    return "\n".join(f"{key!r} {entry.value!r}" for key, entry in every)


# --- prepared statements -----------------------------------------------------------------------------------------


def test_a_prepared_statement_is_not_shown_when_it_fails(engine: Engine, session: Session) -> None:
    session.run(f"PREPARE p AS ATTACH 'x' AS a (TYPE nonsense, TOKEN '{PLANTED}')").close()
    with pytest.raises(PinakesError) as caught:
        session.run("EXECUTE p")
    assert all(PLANTED not in text for text in forms(caught.value).values())
    assert all(PLANTED not in repr(info) for info in engine.tracker.snapshot())
    assert PLANTED not in cached(engine)


# --- what must still be readable ---------------------------------------------------------------------------------


def test_an_error_still_shows_where_it_is(session: Session) -> None:
    with pytest.raises(PinakesError) as caught:
        session.run(f"CREATE SECRET k (TYPE s3, SECRET '{PLANTED}') FOREVER")
    shown = str(caught.value)
    assert "FOREVER" in shown or "***" in shown
    assert "CREATE SECRET" in shown
    assert caught.value.position is not None


def test_harmless_text_is_not_masked(engine: Engine, session: Session) -> None:
    sql = "SELECT 'token' AS secret, /* a comment */ 'password'"
    session.run(sql).close()
    assert engine.tracker.snapshot()[-1].shown == sql


def test_the_check_finds_what_it_looks_for(engine: Engine, session: Session) -> None:
    """A value in a plain query is no secret, and is found: so the places are really searched."""
    session.run(f"SELECT '{PLANTED}'").close()
    with pytest.raises(PinakesError) as caught:
        session.run(f'SELECT 1 FROM "nowhere_{PLANTED}"')
    gc.collect()
    assert PLANTED in repr(engine.tracker.snapshot())
    assert PLANTED in cached(engine)
    assert PLANTED in forms(caught.value)["traceback"]
