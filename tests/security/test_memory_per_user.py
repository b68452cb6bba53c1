"""What a server keeps for a user between calls has a limit in bytes: prepared statements with their parameters, SQL's
PREPARE, unfetched results. 10,000 prepared statements with 256 MB of parameters each were possible."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import adbc_driver_flightsql.dbapi as adbc
import pytest

from pinakes.core.errors import InvalidArgument, ServerBusy
from pinakes.engine.execution.memory_budget import MemoryBudget
from pinakes.engine.execution.tracker import LONGEST
from tests.engine.support import an_engine, do, rows
from tests.flight.identities import configured
from tests.flight.serving import Serving
from tests.security.recording import ANN, EVE, USERS, run

MB = 1_000_000
LIMITS = USERS.replace("[server]\n", '[server]\nclient_memory_per_user = "20MB"\nclient_memory = "22MB"\n')


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with configured(tmp_path_factory.mktemp("memory"), LIMITS) as running:
        yield running


def _bind(held: ExitStack, connection: adbc.Connection, size: int) -> None:
    """Runs a prepared statement with parameters of some bytes."""
    cursor = held.enter_context(connection.cursor())
    cursor.execute("SELECT length($1)", ["x" * size])
    assert cursor.fetchall() == [(size,)]


def _refused(act: Callable[[int], object]) -> str:
    """The error of something that is done again and again."""
    for number in range(40):
        try:
            act(number)
        except adbc.Error as error:
            return str(error)
    raise AssertionError("nothing was refused")


def test_parameters_of_prepared_statements(server: Serving) -> None:
    with server.connect(**EVE) as connection, ExitStack() as held:
        _bind(held, connection, 6 * MB)
        assert "client_memory_per_user" in _refused(lambda _: _bind(held, connection, 6 * MB))
    with server.connect(**EVE) as connection, ExitStack() as held:
        _bind(held, connection, 6 * MB)  # those before were closed


def test_all_users_together(server: Serving) -> None:
    with server.connect(**EVE) as eve, server.connect(**ANN) as ann, ExitStack() as held:
        _bind(held, eve, 8 * MB)
        assert "the limit client_memory (" in _refused(lambda _: _bind(held, ann, 5 * MB))


def test_prepare(server: Serving) -> None:
    text = f"AS SELECT '{'x' * 300_000}' AS a"
    with server.connect(**EVE) as connection, connection.cursor() as cursor:
        assert "client_memory_per_user" in _refused(lambda number: cursor.execute(f"PREPARE p{number} {text}"))
        cursor.execute("DEALLOCATE ALL")
        cursor.execute(f"PREPARE p {text}")
        cursor.execute("DEALLOCATE p")


def test_nothing_is_left_of_closed_sessions(server: Serving) -> None:
    for _ in range(20):
        with server.connect(**EVE) as connection, connection.cursor() as cursor:
            cursor.execute(f"PREPARE p AS SELECT '{'x' * 100_000}' AS a")
            cursor.execute("DEALLOCATE p")
    assert run(server, "SELECT 1", **EVE) == [(1,)]


def test_unfetched_results_of_long_statements(server: Serving) -> None:
    def execute(_: int) -> None:
        cursor = held.enter_context(connection.cursor())
        cursor.adbc_statement.set_sql_query(f"SELECT '{'x' * 100_000}' AS a")
        cursor.adbc_statement.execute_query()

    with server.connect(**ANN) as connection, ExitStack() as held:
        assert "client_memory_per_user" in _refused(execute)


def test_a_budget_counts() -> None:
    budget = MemoryBudget(100, 150)
    first = budget.reserve("eve", 60)
    with pytest.raises(ServerBusy, match="client_memory_per_user"):
        budget.reserve("eve", 41)
    with pytest.raises(ServerBusy, match="client_memory "):
        budget.reserve("ann", 91)
    taken = first.take()
    first.release()
    assert budget.used() == {"eve": 60}
    taken.grow(40)
    with pytest.raises(ServerBusy):
        taken.grow(1)
    assert budget.used() == {"eve": 100}
    taken.release()
    taken.release()
    assert budget.used() == {}
    budget.reserve("eve", 5)
    gc.collect()
    assert budget.used() == {}


def test_a_budget_counts_in_threads() -> None:
    budget = MemoryBudget(10**9, 10**9)

    def work() -> None:
        for _ in range(2_000):
            with budget.reserve("eve", 7) as held:
                held.grow(3)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert budget.used() == {}


def test_the_history_keeps_the_begin_of_long_statements() -> None:
    with an_engine() as engine:
        session = engine.session()
        do(session, f"SELECT '{'x' * 2 * LONGEST}' AS a")
        (length,) = rows(session, "SELECT max(length(query)) FROM system.runtime.queries")[0]
    assert length == LONGEST + 2


def test_secrets_are_limited() -> None:
    with an_engine() as engine, pytest.raises(InvalidArgument, match="limit"):
        do(engine.session(), f"CREATE SECRET s (TYPE bearer, TOKEN '{'x' * MB}')")
