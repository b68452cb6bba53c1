"""The backslash commands of the shell and of scripts, in groups; `table.py` lists them all. SQL statements belong to
`engine/commands`.

A command is one entry in the table: its names, arguments, one sentence of help, and the function that runs it.
"""

from pinakes.cli.commands.base import Call, Command
from pinakes.cli.commands.table import COMMANDS, find, run_command

__all__ = ["COMMANDS", "Call", "Command", "find", "run_command"]
