"""Promise: `pinakes -c 'select 1'` takes at most 2.5 times as long as `python -c 'import datafusion, pyarrow'`, and
`pinakes --help` less than 150 ms, loading neither DataFusion nor pyspark; the first prompt is there within a second.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import tempfile

from _harness import compare, promise, report

MAIN = "import sys; from pinakes.cli.main import main; sys.exit(main())"
"""What the `pinakes` command runs."""

HEAVY = ("datafusion", "pyspark", "pyarrow", "pyiceberg", "sqlglot")

LOADED = f"""
import sys
from pinakes.cli.main import main
try:
    main()
except SystemExit:
    pass
print("loaded:", *(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)
"""


def main() -> None:
    ours, peer = compare(
        lambda: _python(MAIN, "--data", ":memory:", "-c", "select 1"),
        lambda: _python("import datafusion, pyarrow"),
        rounds=9,
    )
    report("pinakes -c 'select 1'", ours, peer, "import datafusion, pyarrow")
    promise("wall over the peer's", ours.wall / peer.wall, 2.5, " times")
    ours, peer = compare(_first_prompt, lambda: _python("import datafusion, pyarrow"), rounds=9)
    report("pinakes: first prompt on a terminal", ours, peer, "import datafusion, pyarrow")
    promise("wall", ours.wall, 1, " s")
    ours, peer = compare(lambda: _python(MAIN, "--help"), lambda: _python("pass"), rounds=9)
    report("pinakes --help", ours, peer, "python -c pass")
    promise("wall", ours.wall * 1e3, 150, " ms")
    loaded = _python(LOADED, "--help").split("loaded:")[-1].split()
    promise(f"of {', '.join(HEAVY)}, loaded by --help ({', '.join(loaded) or 'none'})", len(loaded), 0)


def _python(code: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return done.stderr


def _first_prompt() -> None:
    """Start the shell on a pseudo-terminal and leave it as soon as it asks."""
    with tempfile.TemporaryDirectory() as home:
        process, terminal = pty.fork()
        if process == 0:
            environment = os.environ | {"HOME": home, "TMPDIR": home, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
            os.execve(sys.executable, [sys.executable, "-c", MAIN, "--data", ":memory:"], environment)
        seen = b""
        while b"lake.default> " not in seen:
            seen += os.read(terminal, 4096)
        os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(terminal)


if __name__ == "__main__":
    main()
