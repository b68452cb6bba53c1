"""The engines that can run a statement, and the one that was selected."""

from __future__ import annotations

from typing import NamedTuple

LOCAL, SPARK, AUTO = "local", "spark", "auto"
ENGINES = (LOCAL, SPARK, AUTO)


class Choice(NamedTuple):
    """The engine that runs a statement."""

    engine: str
    why: str
    is_automatic: bool = False
    """`auto` chose it: a statement that can't be expressed for it runs here."""


HERE = Choice(LOCAL, "DataFusion in this process, as chosen by SET engine or a hint, or by default")
