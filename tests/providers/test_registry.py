"""Catalog types by name, options by dataclass, and pyiceberg's errors as ours."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest
from pyiceberg import exceptions as theirs

from pinakes.core import errors as ours
from pinakes.providers import registry
from pinakes.providers.iceberg.adapter import translate_errors
from pinakes.providers.options import describe_options, option, parse_options
from pinakes.providers.sqlite import SqliteCatalog


def test_types_are_found_regardless_of_case() -> None:
    assert registry.load_type("SQLite") is SqliteCatalog
    assert "sqlite" in registry.known_types()


@pytest.mark.parametrize("name", sorted(registry.TYPES))
def test_every_type_says_what_its_options_are(name: str) -> None:
    assert all(doc for _, doc in describe_options(registry.load_type(name).Options))


def test_an_unknown_type_lists_the_known() -> None:
    with pytest.raises(ours.InvalidArgument, match=r"catalog type 'oracle' is not known; known types: .*sqlite"):
        registry.open_catalog("oracle", "x", "", {})


def test_other_packages_bring_types(monkeypatch: pytest.MonkeyPatch) -> None:
    good = EntryPoint("theirs", "pinakes.providers.sqlite:SqliteCatalog", registry.GROUP)
    bad = EntryPoint("broken", "no_such_module:Catalog", registry.GROUP)
    monkeypatch.setattr(registry, "_foreign", lambda: [good, bad])
    assert registry.load_type("Theirs") is SqliteCatalog
    assert {"theirs", "broken", "sqlite"} <= set(registry.known_types())
    with pytest.raises(ours.CatalogUnavailable, match="'broken' comes from no_such_module:Catalog, which fails"):
        registry.load_type("broken")


@dataclass(frozen=True, slots=True)
class Some:
    uri: str = option("where it is")
    size: int = option("how many", default=3)
    ratio: float | None = option("how much", default=None)
    on: bool = option("whether", default=False)


def test_options_are_typed() -> None:
    assert parse_options(Some, {"URI": "x"}, "t") == Some("x")
    assert parse_options(Some, {"uri": 5, "Size": "7", "RATIO": 2, "on": "yes"}, "t") == Some("5", 7, 2.0, True)
    assert parse_options(Some, {"uri": "x", "ratio": None, "size": 4.0, "on": True}, "t") == Some("x", 4, None, True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"t needs the option URI\. Options: URI \(where it is\)"),
        ({"uri": None}, "option URI of t must be a text"),
        ({"uri": "x", "size": "many"}, "option SIZE of t must be a whole number"),
        ({"uri": "x", "size": 1.5}, "option SIZE of t must be a whole number"),
        ({"uri": "x", "size": True}, "option SIZE of t must be a whole number"),
        ({"uri": "x", "ratio": "x"}, "option RATIO of t must be a number"),
        ({"uri": "x", "on": 3}, "option ON of t must be true or false"),
    ],
)
def test_options_that_can_not_be(given: dict[str, object], message: str) -> None:
    with pytest.raises(ours.InvalidArgument, match=message):
        parse_options(Some, given, "t")  # type: ignore[arg-type]


def test_an_ill_typed_value_is_not_repeated() -> None:
    """It may be a secret."""
    with pytest.raises(ours.InvalidArgument) as raised:
        parse_options(Some, {"uri": "x", "size": "hunter2"}, "t")
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (theirs.NoSuchTableError(), ours.TableNotFound),
        (theirs.NoSuchIcebergTableError(), ours.TableNotFound),
        (theirs.NoSuchViewError(), ours.ViewNotFound),
        (theirs.NoSuchNamespaceError(), ours.NamespaceNotFound),
        (theirs.NoSuchIdentifierError(), ours.NotFoundError),
        (theirs.TableAlreadyExistsError(), ours.TableExists),
        (theirs.ViewAlreadyExistsError(), ours.ViewExists),
        (theirs.NamespaceAlreadyExistsError(), ours.NamespaceExists),
        (theirs.NamespaceNotEmptyError(), ours.NamespaceNotEmpty),
        (theirs.CommitFailedException("x"), ours.CommitConflict),
        (theirs.ValidationException("x"), ours.CommitConflict),
        (theirs.CommitStateUnknownException("x"), ours.CommitUnknown),
        (theirs.ForbiddenError("x"), ours.PermissionDenied),
        (theirs.OAuthError("x"), ours.PermissionDenied),
        (theirs.BadRequestError("x"), ours.InvalidArgument),
        (theirs.ServiceUnavailableError("x"), ours.CatalogUnavailable),
        (FileNotFoundError("m.json"), ours.DataCorrupt),
        (PermissionError("x"), ours.PermissionDenied),
        (ConnectionResetError("x"), ours.CatalogUnavailable),
        (NotImplementedError(), ours.NotSupportedError),
        (theirs.NotInstalledError("x"), ours.NotSupportedError),
        (ValueError("x"), ours.InvalidArgument),
        (theirs.ValidationError("x"), ours.InvalidArgument),
        (ZeroDivisionError("x"), ours.InternalError),
    ],
)
def test_errors_are_translated(raised: Exception, expected: type[ours.PinakesError]) -> None:
    with pytest.raises(expected) as caught, translate_errors("table", ("a", "b.c"), "t"):
        raise raised
    assert type(caught.value) is expected
    assert caught.value.__cause__ is raised
    assert 'a."b.c"' in str(caught.value)


def test_our_own_errors_pass_unchanged() -> None:
    own = ours.DataCorrupt("as it was")
    with pytest.raises(ours.DataCorrupt) as caught, translate_errors("table", ("a",), "t"):
        raise own
    assert caught.value is own
