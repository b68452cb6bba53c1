"""The example in examples/pipeline, run as its README says, on a small scale; and the command around it."""

from __future__ import annotations

import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from tests.pipeline.runs.example import EXAMPLE, Shop, generate
from tests.pipeline.support import eventually
from tests.servers.base import Facts

ROWS = 4_000


def command(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pinakes", "pipeline", *words], cwd=cwd, capture_output=True, text=True, timeout=300
    )


def test_init_makes_a_project_that_is_right(tmp_path: Path) -> None:
    made = command("init", "shop", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    found = command("validate", "shop/spec.yml", "--data", "lake", cwd=tmp_path)
    assert (found.returncode, "nothing is wrong; 3 steps" in found.stderr) == (0, True), found.stderr
    plan = command("plan", "shop/spec.yml", "--data", "lake", cwd=tmp_path)
    assert [line.split()[1] for line in plan.stdout.splitlines()] == ["raw_orders", "orders", "daily"]
    assert "1 new files" in plan.stdout
    again = command("init", "shop", cwd=tmp_path)
    assert (again.returncode, "not empty" in again.stderr) == (2, True)


def test_exit_codes_tell_what_was_wrong(tmp_path: Path) -> None:
    (tmp_path / "spec.yml").write_text("name: x\nnonsense: 1\n")
    found = command("validate", cwd=tmp_path)
    assert (found.returncode, "spec.yml:2: unknown key 'nonsense'" in found.stderr) == (2, True)
    missing = command("run", "nowhere.yml", cwd=tmp_path)
    assert (missing.returncode, "FILE_NOT_FOUND" in missing.stderr) == (2, True)
    assert "Traceback" not in found.stderr + missing.stderr


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, spark_connect_server: Facts) -> Shop:
    raw = tmp_path_factory.mktemp("raw")
    generate(raw, ROWS)
    found = Shop(tmp_path_factory.mktemp("shop"), raw, spark_connect_server)
    found.run()
    return found


@pytest.mark.slow
def test_the_example_gives_what_its_files_hold(shop: Shop, tmp_path: Path) -> None:
    tables = shop.tables()
    bad = [n for n in range(1, ROWS + 1) if n % 1013 == 0]
    good = [n for n in range(1, ROWS + 1) if n % 1013]
    kept = [n for n in good if n % 1009 and n % 997]
    assert tables["raw_orders"].num_rows == len(good)
    assert tables["raw_orders_bad_records"].num_rows == len(bad)
    assert tables["orders"].column("order_id").to_pylist() == kept
    assert sum(tables["daily_revenue"].column("orders").to_pylist()) == len(kept)
    quantity = {n: 1 + (n * 13) % 9 for n in kept}
    cents = sum(quantity[n] * (1 + (n * 17) % 2500) for n in kept)
    assert sum(tables["products"].column("revenue").to_pylist()) * 100 == cents
    plot = runpy.run_path(str(EXAMPLE / "plot.py"))["plot"]
    plot(str(shop.place / "lake"), tmp_path / "revenue.png")
    assert (tmp_path / "revenue.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_second_run_adds_nothing_twice(shop: Shop) -> None:
    before: dict[str, pa.Table] = shop.tables()
    shop.run()
    after = shop.tables()
    assert all(after[name].equals(before[name]) for name in before)


@pytest.mark.slow
def test_ctrl_c_cancels_in_good_order(shop: Shop, tmp_path: Path, spark_connect_server: Facts) -> None:
    other = Shop(tmp_path, shop.raw, spark_connect_server)
    process = other.start()
    eventually(lambda: other.has_begun() or process.poll() is not None, "the first load")
    process.send_signal(signal.SIGINT)
    code = process.wait(300)
    assert code in (0, 130), other.said()  # it may have been done just then
    assert "Traceback" not in other.said()
    assert other.states() == (["CANCELED"] if code else ["COMPLETED"])
    other.run()
    assert other.tables()["products"].equals(shop.tables()["products"])
