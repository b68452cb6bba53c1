"""A kernel as Jupyter runs it: an interrupt, an error and a completion as the front end gets them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

pytestmark = pytest.mark.slow

ENDLESS = "SELECT sum(value % 7) FROM range(100000000000)"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
            patch.setenv(name, str(home / name.lower()))
        patch.setenv("JUPYTER_PATH", str(Path(sys.prefix) / "share" / "jupyter"))
        manager, client = start_new_kernel(kernel_name="python3", cwd=str(home))
    execute(client, "%load_ext pinakes")
    execute(client, "%sql --connect data=:memory:")
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def execute(
    client: BlockingKernelClient, code: str, on_busy: Any = None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The reply, and what was published meanwhile."""
    message = client.execute(code)
    published: list[dict[str, Any]] = []
    while True:
        try:
            each = client.get_iopub_msg(timeout=60)
        except Empty:
            raise AssertionError("the kernel says nothing more") from None
        if each["parent_header"].get("msg_id") != message:
            continue
        if each["msg_type"] == "stream" and on_busy is not None:
            on_busy()
            on_busy = None
        if each["msg_type"] == "status" and each["content"]["execution_state"] == "idle":
            break
        published.append(each)
    return reply_to(client, message), published


def reply_to(client: BlockingKernelClient, message: str) -> dict[str, Any]:
    """Not the next one: on a busy machine replies to what was asked at the start may still come in."""
    while True:
        reply = client.get_shell_msg(timeout=60)
        if reply["parent_header"].get("msg_id") == message:
            content: dict[str, Any] = reply["content"]
            return content


def of_type(published: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [message["content"] for message in published if message["msg_type"] == kind]


def test_a_result_has_both_views(kernel: tuple[KernelManager, BlockingKernelClient]) -> None:
    reply, published = execute(kernel[1], "%%sql\nSELECT 1 AS a, '<b>' AS b;\n")
    assert reply["status"] == "ok"
    (result,) = of_type(published, "execute_result")
    assert "│ a      │ b       │" in result["data"]["text/plain"]
    assert "&lt;b&gt;" in result["data"]["text/html"]


def test_an_error_is_one_message(kernel: tuple[KernelManager, BlockingKernelClient]) -> None:
    reply, published = execute(kernel[1], "%%sql\nSELECT 1;\nSELECT * FROM nowhere;\nSELECT 3")
    assert (reply["status"], reply["ename"]) == ("error", "TableNotFound")
    (error,) = of_type(published, "error")
    assert error["traceback"] == ["TABLE_NOT_FOUND: table lake.default.nowhere does not exist; lake.default has: none."]
    assert of_type(published, "stream") == []
    assert len(of_type(published, "display_data")) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="the interrupt is a signal")
@pytest.mark.parametrize("sql", [ENDLESS, f"CREATE TABLE never AS {ENDLESS}"])
def test_an_interrupt_cancels_the_statement(kernel: tuple[KernelManager, BlockingKernelClient], sql: str) -> None:
    manager, client = kernel
    # The interrupt may come before the statement has begun; then it is Python's own.
    code = f"print('begun', flush=True)\n%sql {sql}\nprint('on')"
    reply, published = execute(client, code, on_busy=manager.interrupt_kernel)
    assert reply["status"] == "error"
    (error,) = of_type(published, "error")
    assert error["traceback"][0].startswith("QUERY_CANCELED: query ") or error["ename"] == "KeyboardInterrupt"
    assert [message["text"] for message in of_type(published, "stream")] == ["begun\n"]
    reply, published = execute(client, "%sql SHOW TABLES")
    assert "(0 rows)" in of_type(published, "execute_result")[0]["data"]["text/plain"]


def test_completion(kernel: tuple[KernelManager, BlockingKernelClient]) -> None:
    client = kernel[1]
    execute(client, "%sql CREATE TABLE IF NOT EXISTS parchments (a INT)")
    code = "%%sql\nSELECT * FROM parch"
    content = reply_to(client, client.complete(code, len(code)))
    assert content["matches"] == ["parchments"]
    assert code[content["cursor_start"] : content["cursor_end"]] == "parch"
    execute(client, "%sql DROP TABLE parchments")
