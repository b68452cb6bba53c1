"""The requirements of the installed Pinakes distribution, and the installed versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

DISTRIBUTION = "pinakes"

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?\s*([^;]*?)\s*(?:;(.*))?\Z")
_BOUND = re.compile(r"(>=|<=|==|!=|~=|>|<)\s*([0-9][0-9.]*)")
_EXTRA = re.compile(r"\s*extra\s*==\s*['\"]([^'\"]+)['\"]\s*\Z")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A required distribution with its version bounds; for an extra, or always."""

    name: str
    bounds: str
    extra: str | None = None

    @property
    def installed(self) -> str | None:
        try:
            return metadata.version(self.name)
        except metadata.PackageNotFoundError:
            return None

    def allows(self, version: str) -> bool:
        return all(_holds(version, sign, bound) for sign, bound in _BOUND.findall(self.bounds))


def requirements(distribution: str = DISTRIBUTION) -> Iterator[Requirement]:
    """Yields all requirements, including those of extras and those of a requirement's extras, such as boto3 for
    pyiceberg[glue]. Raises PackageNotFoundError if the distribution is not installed."""
    for text in metadata.requires(distribution) or ():
        found = _REQUIREMENT.match(text)
        if found is None:
            raise ValueError(f"the requirement {text!r} can't be read")
        extra = _EXTRA.match(found[4] or "")
        if found[4] and extra is None:
            continue  # only for some systems or versions of Python
        yield Requirement(found[1], _ordered(found[3]), extra[1] if extra else None)
        for inner in (found[2] or "").split(","):
            yield from _of_extra(found[1], inner.strip(), extra[1] if extra else None)


def _of_extra(distribution: str, inner: str, extra: str | None) -> Iterator[Requirement]:
    if not inner:
        return
    try:
        required = list(requirements(distribution))
    except metadata.PackageNotFoundError:  # it is missing, which is reported already
        return
    yield from (Requirement(r.name, r.bounds, extra) for r in required if r.extra == inner)


def _ordered(bounds: str) -> str:
    """Reorders bounds such as `<56,>=55`: the lower bound comes first."""
    return ",".join(sorted(bounds.strip("() ").replace(" ", "").split(","), reverse=True))


def _holds(version: str, sign: str, bound: str) -> bool:
    """Compares versions by their numbers; suffixes (rc1, .post2) are ignored."""
    have, want = _numbers(version), _numbers(bound)
    if sign == "~=":
        return have >= want and have[: len(want) - 1] == want[:-1]
    width = max(len(have), len(want))
    left, right = have + (0,) * (width - len(have)), want + (0,) * (width - len(want))
    return {">=": left >= right, "<=": left <= right, "==": left == right, "!=": left != right,
            ">": left > right, "<": left < right}[sign]  # fmt: skip


def _numbers(version: str) -> tuple[int, ...]:
    leading = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in leading.group().split(".")) if leading else ()
