"""Completion of statements from the live catalog, for the shell and for notebooks.

Start reading at `completer.py`: `Completer(session).complete(text, cursor)`. `asked.py` analyzes the text, `source.py`
finds the names of the session, `loader.py` lists catalogs in the background, `ranking.py` selects and sorts.
"""

from pinakes.api.completion.completer import Completer
from pinakes.api.completion.ranking import Completion

__all__ = ["Completer", "Completion"]
