"""A shell of IPython in this process, and a kernel in one of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from IPython.utils.capture import capture_output


@dataclass
class Ran:
    """What a cell gave: its value, its failure, what it displayed before, and what it printed."""

    result: ExecutionResult
    out: str
    err: str
    displayed: list[Any]

    @property
    def value(self) -> Any:
        assert self.result.success, self.out + self.err
        return self.result.result


Run = Callable[[str], Ran]


@pytest.fixture(scope="module")
def bare_shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InteractiveShell]:
    """Making one takes half a second; nothing of the developer's own is read or written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        shell = InteractiveShell.instance()
        shell.history_manager.enabled = False
        shell.colors = "nocolor"
        yield shell
        shell.history_manager.end_session()
        InteractiveShell.clear_instance()


@pytest.fixture
def shell(bare_shell: InteractiveShell) -> Iterator[InteractiveShell]:
    """One with the extension loaded, on a catalog that goes with the test."""
    before = set(bare_shell.user_ns)
    bare_shell.run_line_magic("load_ext", "pinakes")
    bare_shell.run_line_magic("sql", "--connect data=:memory:")
    yield bare_shell
    bare_shell.run_line_magic("unload_ext", "pinakes")
    for name in set(bare_shell.user_ns) - before:
        del bare_shell.user_ns[name]


@pytest.fixture
def run(shell: InteractiveShell) -> Run:
    def run(cell: str) -> Ran:
        with capture_output() as captured:
            result = shell.run_cell(cell)
        return Ran(result, captured.stdout, captured.stderr, captured.outputs)

    return run
