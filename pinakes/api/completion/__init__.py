"""What may be typed next: completion of statements from the live catalog, for the shell and for notebooks.

`completer.py` is where to start: `Completer(session).complete(text, cursor)`. `asked.py` reads the text, `seen.py`
knows what the session sees, `loader.py` lists catalogs in the background, `ranking.py` chooses and sorts.
"""

from pinakes.api.completion.completer import Completer
from pinakes.api.completion.ranking import Completion

__all__ = ["Completer", "Completion"]
