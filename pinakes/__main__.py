"""`python -m pinakes` is the command `pinakes`."""

from __future__ import annotations

import sys

from pinakes.cli.main import main

sys.exit(main())
