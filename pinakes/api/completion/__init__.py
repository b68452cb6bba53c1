"""Completion of statements from the live catalog, for the shell and for notebooks. Keys and menus belong to `cli` and
`notebook`.

Start at `completer.py`: `Completer(session).complete(text, cursor)`. `cursor_context.py` reads the text, `sight.py` and
`source.py` hold the names that the session sees, `loader.py` lists catalogs in the background, `ranking.py` selects and
sorts.
"""

from pinakes.api.completion.completer import Completer
from pinakes.api.completion.ranking import Completion

__all__ = ["Completer", "Completion"]
