"""YAML with line numbers, so that errors report positions. The only module that imports PyYAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pinakes.core.errors import NotSupportedError
from pinakes.core.suggestions import did_you_mean
from pinakes.pipelines.project.problem import Problem, Where


class Entry:
    """A value of the file. An unexpected type becomes a problem, and a default value is returned."""

    def __init__(self, file: str, value: Any, line: int, problems: list[Problem], name: str = "") -> None:
        self.value, self.name, self._file, self._line, self._problems = value, name, file, line, problems

    @property
    def where(self) -> Where:
        return Where(self._file, self._line)

    def fault(self, message: str) -> None:
        self._problems.append(Problem(self.where, message))

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, Mapping) and key in self.value

    def __getitem__(self, key: str) -> Entry:
        found: Entry = self.value[key]
        return found

    def section(self, known: tuple[str, ...]) -> bool:
        """Whether it is a mapping; reports unknown keys."""
        if not isinstance(self.value, Mapping):
            self.fault(f"{self._said} is a mapping with the keys {', '.join(known)}")
            return False
        for key, entry in self.value.items():
            if key not in known:
                hint = did_you_mean(key, known) or f" Known: {', '.join(known)}."
                entry.fault(f"unknown key {key!r}.{hint}")
        return True

    def text(self, key: str, default: str | None = None) -> str | None:
        if key not in self or self[key].value is None:
            return default
        return self[key].as_text()

    def as_text(self) -> str:
        if isinstance(self.value, str):
            return self.value
        if isinstance(self.value, bool):
            return "true" if self.value else "false"
        if isinstance(self.value, int | float):
            return str(self.value)
        self.fault(f"{self._said} is a text")
        return ""

    def choice(self, key: str, options: tuple[str, ...]) -> str:
        found = self.text(key, options[0]) or options[0]
        if found in options:
            return found
        self[key].fault(f"{key} is one of {', '.join(options)}, not {found!r}.{did_you_mean(found, options)}")
        return options[0]

    def texts(self, key: str) -> dict[str, str]:
        if key not in self or self[key].value is None:
            return {}
        return {name: entry.as_text() for name, entry in self[key].items()}

    def items(self) -> Iterator[tuple[str, Entry]]:
        if isinstance(self.value, Mapping):
            yield from self.value.items()
        elif self.value is not None:
            self.fault(f"{self._said} is a mapping")

    def elements(self, key: str) -> list[Entry]:
        if key not in self or self[key].value is None:
            return []
        return self[key].list()

    def list(self) -> list[Entry]:
        if isinstance(self.value, list):
            return self.value
        self.fault(f"{self._said} is a list")
        return []

    @property
    def _said(self) -> str:
        return self.name or "a pipeline's file"


def read_yaml(text: str, file: str, problems: list[Problem]) -> Entry | None:
    """Parses the file; returns None and reports a problem if it is invalid."""
    try:
        import yaml
    except ImportError as error:
        raise NotSupportedError(f"pipelines need PyYAML ({error}): pip install 'pinakes[spark]'") from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(word for word in (error.context, error.problem) if word)
        problems.append(Problem(Where(file, None if mark is None else mark.line + 1), f"invalid YAML: {said}"))
        return None
    except yaml.YAMLError as error:
        problems.append(Problem(Where(file), f"invalid YAML: {error}"))
        return None
    if node is None:
        problems.append(Problem(Where(file), "the file is empty: a pipeline has at least a name and libraries"))
        return None
    return _entry(node, yaml.SafeLoader(""), file, problems, "")


def _entry(node: Any, loader: Any, file: str, problems: list[Problem], name: str) -> Entry:
    import yaml

    line = node.start_mark.line + 1
    value: Any
    if isinstance(node, yaml.MappingNode):
        value = {}
        for key, inner in node.value:
            word = str(loader.construct_object(key))
            if word in value:
                problems.append(Problem(Where(file, key.start_mark.line + 1), f"the key {word!r} is there twice"))
            value[word] = _entry(inner, loader, file, problems, word)
            value[word]._line = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        value = [_entry(inner, loader, file, problems, name) for inner in node.value]
    else:
        value = loader.construct_object(node)
    return Entry(file, value, line, problems, name)
