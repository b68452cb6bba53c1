"""The backslash commands of the shell and of scripts. `table.py` lists them all; each group is one module.

A command is one entry in the table: its names, arguments, one sentence of help, and its function.
"""

from pinakes.cli.commands.base import Call, Command
from pinakes.cli.commands.table import COMMANDS, find, run_command

__all__ = ["COMMANDS", "Call", "Command", "find", "run_command"]
