"""Which mounts are of one catalog: a change through one of them is forgotten for the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinakes.engine.catalogs.opening import Opening


def origin(type: str, location: str) -> str:
    return Opening(type, "x", location, {}, "1").origin


@pytest.mark.parametrize(
    ("type", "locations"),
    [
        (
            "jdbc",
            [
                "postgresql://db.example/sales",
                "postgresql://joe:hush@db.example:5432/sales",
                "jdbc:postgresql://db.example/sales?ssl_mode=require",
                "postgres://DB.example/sales",
                "db.example/sales",
                "joe:hush@db.example:5432/sales",
            ],
        ),
        ("jdbc", ["mysql://localhost/sales", "mysql://127.0.0.1:3306/sales", "mysql://[::1]/sales"]),
        ("iceberg_rest", ["https://rest.example/api", "https://rest.example:443/api/", "http://rest.example/api"]),
    ],
)
def test_however_a_server_is_written_it_is_the_same(type: str, locations: list[str]) -> None:
    found = {origin(type, location) for location in locations}
    assert len(found) == 1
    assert "hush" not in found.pop()


def test_other_servers_and_databases_are_others() -> None:
    places = ["postgresql://a.example/x", "postgresql://a.example/y", "postgresql://b.example/x"]
    assert len({origin("jdbc", place) for place in places}) == len(places)


def test_however_a_directory_is_written_it_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "wh").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "wh")
    same = [f"{tmp_path}/wh", f"{tmp_path}/wh/", f"file://{tmp_path}/wh", f"{tmp_path}/link", f"{tmp_path}/x/../wh"]
    assert {origin("sqlite", place) for place in same} == {str(tmp_path / "wh")}
