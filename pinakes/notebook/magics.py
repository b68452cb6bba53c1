"""`%sql` and `%%sql`: one connection per notebook, opened when it is first needed."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from IPython.core.magic import Magics, line_cell_magic, magics_class, needs_local_scope, no_var_expand

import pinakes
from pinakes.api.connection import Connection
from pinakes.api.relation import Relation
from pinakes.core.errors import InvalidArgument
from pinakes.notebook.cell import printing_errors, run_cell
from pinakes.notebook.line import Line, read_line
from pinakes.notebook.values import Namespaces, variable

if TYPE_CHECKING:
    from pinakes.api.completion import Completer


@magics_class
class SqlMagics(Magics):
    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.connection: Connection | None = None
        self._owned = False
        self._completer: Completer | None = None

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def sql(self, line: str, cell: str | None = None, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Run SQL with Pinakes.

            %sql SELECT …                     the rows; statements are separated by ;
            %%sql                             the same for a whole cell
            %%sql name << SELECT …            put the result into a variable (or: %%sql --out name)
            %sql --connection con             use a connection of pinakes.connect() from now on
            %sql --connect data=… user=…      open one: arguments of pinakes.connect(), and settings

        A name that no catalog has is looked for among the Python variables: frames and Arrow tables are tables.
        $name and :name are the value of a Python variable, bound as a parameter.
        """
        namespaces = self._namespaces(local_ns)
        with printing_errors():
            arguments = read_line(line)
            connected = self._connected(arguments, namespaces)
        text = arguments.sql if cell is None else f"{arguments.sql}\n{cell}"
        if not text.strip():
            return self._nothing_to_run(arguments, connected)
        try:
            found = run_cell(text, connected, namespaces, keep=arguments.out is not None)
        finally:
            if self._completer is not None:
                self._completer.refresh()
        return found if arguments.out is None else self._put(arguments.out, found)

    def disconnect(self) -> None:
        """Closes the connection, if the magic opened it."""
        if self.connection is not None and self._owned:
            self.connection.close()
        self.connection = None

    def connected(self) -> Connection:
        """Returns the connection of this notebook; opens one if necessary."""
        if self.connection is None:
            self._use(pinakes.connect(), owned=True)
        assert self.connection is not None
        return self.connection

    def completer(self) -> Completer:
        """Returns the completer of this connection."""
        if self._completer is None:
            from pinakes.api.completion import Completer  # lazy: completion may never be used

            self._completer = Completer(self.connected().session)
        return self._completer

    def _connected(self, arguments: Line, namespaces: Namespaces) -> Connection:
        if arguments.connection is not None:
            given = variable(arguments.connection, namespaces, "--connection")
            if not isinstance(given, Connection):
                raise InvalidArgument(
                    f"{arguments.connection} is a {type(given).__qualname__}; "
                    f"--connection takes what pinakes.connect() gave"
                )
            self._use(given, owned=False)
        elif arguments.connect is not None:
            values: dict[str, Any] = {name: _given(text, namespaces) for name, text in arguments.connect.items()}
            self._use(pinakes.connect(**values), owned=True)
        return self.connected()

    def _use(self, connection: Connection, *, owned: bool) -> None:
        if connection is not self.connection:
            self.disconnect()
            self.connection, self._owned, self._completer = connection, owned, None

    def _nothing_to_run(self, arguments: Line, connection: Connection) -> Connection:
        with printing_errors():
            if arguments.connect is None and arguments.connection is None:
                raise InvalidArgument(f"there is nothing to run.\n{cleandoc(SqlMagics.sql.__doc__ or '')}")
        return connection

    def _put(self, name: str, found: Relation | None) -> None:
        with printing_errors():
            if found is None:
                raise InvalidArgument(f"nothing to assign to {name}: the cell has no statement")
        assert self.shell is not None
        self.shell.user_ns[name] = found

    def _namespaces(self, local_ns: Mapping[str, Any] | None) -> Namespaces:
        assert self.shell is not None
        users: Mapping[str, Any] = self.shell.user_ns
        return (users,) if local_ns is None else (local_ns, users)


def _given(text: str, namespaces: Namespaces) -> Any:
    """Returns a value of --connect: the literal text, or the value of a variable, so that tokens need not be written in
    a notebook."""
    return variable(text[1:], namespaces, text) if text.startswith("$") else text
