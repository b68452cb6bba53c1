"""Promise: `pinakes -c 'select 1'` takes at most 2.5 times as long as `python -c 'import datafusion, pyarrow'`, and
`pinakes --help` less than 150 ms, loading neither DataFusion nor pyspark.
"""

from __future__ import annotations

import subprocess
import sys

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
    ours, peer = compare(lambda: _python(MAIN, "--help"), lambda: _python("pass"), rounds=9)
    report("pinakes --help", ours, peer, "python -c pass")
    promise("wall", ours.wall * 1e3, 150, " ms")
    loaded = _python(LOADED, "--help").split("loaded:")[-1].split()
    promise(f"of {', '.join(HEAVY)}, loaded by --help ({', '.join(loaded) or 'none'})", len(loaded), 0)


def _python(code: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return done.stderr


if __name__ == "__main__":
    main()
