"""SQL in notebooks and in IPython: `%load_ext pinakes`, then `%sql` and `%%sql` (docs/how-to/use-notebooks.md). What
`cli` needs as well belongs to `api`.

Start at `magics.py`; `line.py` parses the line, `cell.py` runs the statements, `values.py` finds the Python variables
that they name, `completion.py` completes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load(shell: InteractiveShell) -> None:
    """Implements `%load_ext pinakes`."""
    from pinakes.notebook.completion import complete_in
    from pinakes.notebook.line import with_body
    from pinakes.notebook.magics import SqlMagics

    unload(shell)  # in case it is loaded already
    magics = SqlMagics(shell)
    shell.register_magics(magics)
    shell.input_transformers_cleanup.append(with_body)
    complete_in(shell, magics)


def unload(shell: InteractiveShell) -> None:
    """Implements `%unload_ext pinakes`: removes the magic and closes the connection that it opened."""
    from pinakes.notebook.completion import stop_completing
    from pinakes.notebook.line import with_body
    from pinakes.notebook.magics import SqlMagics

    magics = shell.magics_manager.registry.pop(SqlMagics.__name__, None)
    stop_completing(shell)
    if with_body in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(with_body)
    if isinstance(magics, SqlMagics):
        magics.disconnect()
        for kind in ("line", "cell"):
            shell.magics_manager.magics[kind].pop("sql", None)
