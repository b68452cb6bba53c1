"""The configuration file and the settings of a session: where they come from, what is checked."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from pinakes.config.model import (
    CacheConfig,
    Config,
    EngineConfig,
    ListingsConfig,
    LogConfig,
    SizedCacheConfig,
    load_config,
    parse_config,
)
from pinakes.config.settings import Settings
from pinakes.core import machine
from pinakes.core.errors import ConfigError, InvalidArgument, SettingNotFound
from pinakes.core.values import docs_of, duration, share_or_size, size, time_zone


def parsed(toml: str) -> Config:
    return parse_config(toml, Path("/base"))


def test_defaults() -> None:
    config = parsed("")
    assert config.engine.batch_size == 32_768
    assert config.engine.time_zone == "UTC"
    assert config.engine.statement_timeout == 0
    assert config.engine.target_partitions == machine.processors()
    assert config.engine.memory_limit == machine.memory() * 3 // 4
    assert config.engine.data.endswith("pinakes")
    assert (config.engine.tracker_queries, config.engine.tracker_age) == (1000, 3600)
    assert config.caches.table_metadata.ttl == 30
    assert config.catalogs == {}


def test_every_section() -> None:
    config = parsed(
        """
        [engine]
        data = "store"
        memory_limit = "2GB"
        spill_dir = "/spill"
        target_partitions = 3
        batch_size = 1024
        time_zone = "europe/athens"
        statement_timeout = "5min"
        allowed_paths = ["files", "/srv/files"]
        tracker_queries = 10
        tracker_age = 60
        [caches.listings]
        ttl = "10s"
        [caches.statements]
        max_entries = 0
        [catalogs.sales]
        type = "sqlite"
        location = "/srv/sales"
        catalog_name = "s"
        [log]
        level = "DEBUG"
        """
    )
    assert config.engine == EngineConfig(
        "/base/store", 2_000_000_000, "/spill", 3, 1024, "Europe/Athens", 300.0,
        ("/base/files", "/srv/files"), 10, 60.0,
    )  # fmt: skip
    assert config.caches.listings == ListingsConfig(10_000, 10.0)
    assert config.caches.statements.max_entries == 0
    sales = config.catalogs["sales"]
    assert (sales.type, sales.location, sales.options) == ("sqlite", "/srv/sales", {"catalog_name": "s"})
    assert config.log.level == "debug"


def test_catalogs_keep_their_options_to_themselves() -> None:
    config = parsed('[catalogs.c]\ntype = "x"\nlocation = "user:hunter2@host"\ntoken = "hunter2"')
    assert "hunter2" not in repr(config)


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("[engin]", r"no section 'engin'; available: access, caches, catalogs, engine"),
        ("[engine]\nbatch = 1", r"\[engine\] has no key 'batch'; available: allowed_paths, batch_size, data"),
        ("[caches.listing]", r"\[caches\] has no cache 'listing'; available: clients, footers, listings"),
        ("[caches.listings]\nsize = 1", r"\[caches.listings\] has no key 'size'; available: max_entries, stale, ttl"),
        ("[engine]\nbatch_size = 0", "engine.batch_size must be a whole number from 1 to 1048576, not 0"),
        ("[engine]\nbatch_size = true", "engine.batch_size must be a whole number"),
        ("[engine]\nbatch_size = 1.5", "engine.batch_size must be a whole number"),
        ("[engine]\ndata = 5", "engine.data must be a text"),
        ("[engine]\nmemory_limit = '200%'", "engine.memory_limit must be"),
        ("[engine]\nmemory_limit = 'lots'", "engine.memory_limit must be .*75%"),
        ("[engine]\ntime_zone = 'Mars/Olympus'", "engine.time_zone must be the name of a time zone"),
        ("[engine]\nstatement_timeout = -1", "engine.statement_timeout must be"),
        ("[log]\nlevel = 'loud'", "log.level must be one of debug"),
        ("engine = 5", r"engine must be a section"),
        ("[catalogs]\nx = 5", r"catalogs.x must be a section"),
        ("[catalogs.x]", r"\[catalogs.x\] needs a type"),
        ("[catalogs.x]\ntype = 'a'\nlocation = 5", "catalogs.x.location must be a text"),
        ("[catalogs.system]\ntype = 'a'", "no catalog can be named"),
        ("[catalogs.Information_Schema]\ntype = 'a'", "no catalog can be named"),
        ("[engine", "not valid TOML"),
    ],
)
def test_bad_input(toml: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        parsed(toml)


class TestSearch:
    @pytest.fixture
    def places(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
        users = tmp_path / "users"
        users.mkdir()
        monkeypatch.setattr("platformdirs.user_config_dir", lambda *_, **__: str(users))
        made = {
            "given": tmp_path / "given.toml",
            "environ": tmp_path / "environ.toml",
            "cwd": tmp_path / "pinakes.toml",
            "user": users / "config.toml",
        }
        for number, file in enumerate(made.values(), 1):
            file.write_text(f"[engine]\nbatch_size = {number}")
        return made

    def test_the_first_there_is(self, places: dict[str, Path], tmp_path: Path) -> None:
        environ = {"PINAKES_CONFIG": str(places["environ"])}

        def size_of(path: Path | None, environ: dict[str, str]) -> int:
            return load_config(path, environ=environ, cwd=tmp_path).engine.batch_size

        assert size_of(places["given"], environ) == 1
        assert size_of(None, environ) == 2
        assert size_of(None, {}) == 3
        places["cwd"].unlink()
        assert size_of(None, {"PINAKES_CONFIG": ""}) == 4
        places["user"].unlink()
        assert load_config(environ={}, cwd=tmp_path).source is None

    def test_a_file_that_is_named_must_be_there(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"no configuration file .*nope"):
            load_config(Path("nope"), environ={}, cwd=tmp_path)
        with pytest.raises(ConfigError, match="from PINAKES_CONFIG"):
            load_config(environ={"PINAKES_CONFIG": "nope"}, cwd=tmp_path)

    def test_paths_start_at_the_file_and_at_the_working_directory(self, tmp_path: Path) -> None:
        (tmp_path / "etc").mkdir()
        file = tmp_path / "etc" / "p.toml"
        file.write_text('[engine]\ndata = "store"')
        config = load_config(Path("etc/p.toml"), environ={}, cwd=tmp_path)
        assert (config.source, config.engine.data) == (file, str(tmp_path / "etc" / "store"))
        assert load_config(file, data="here", environ={}, cwd=tmp_path).engine.data == str(tmp_path / "here")
        assert load_config(file, data=":memory:", environ={}, cwd=tmp_path).engine.data == ":memory:"
        with pytest.raises(ConfigError, match="data directory is empty"):
            load_config(file, data="", environ={}, cwd=tmp_path)

    def test_a_file_that_is_no_text(self, tmp_path: Path) -> None:
        (tmp_path / "pinakes.toml").write_bytes(b"\xff\xfe")
        with pytest.raises(ConfigError, match="can not be read"):
            load_config(environ={}, cwd=tmp_path)


@pytest.mark.parametrize("cls", [EngineConfig, CacheConfig, ListingsConfig, SizedCacheConfig, LogConfig, Settings])
def test_every_field_is_documented(cls: type) -> None:
    docs = docs_of(cls)
    assert [name for name, _, _ in docs] == [f.name for f in fields(cls)]
    assert all(len(doc) > 10 for _, _, doc in docs)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("512", 512),
        (7, 7),
        ("512B", 512),
        ("1kb", 1000),
        ("1KiB", 1024),
        ("1.5 GB", 1_500_000_000),
        ("2TiB", 2 * 1024**4),
    ],
)
def test_sizes(text: object, value: int) -> None:
    assert size(text) == value


def test_shares() -> None:
    parse = share_or_size(lambda: 1000)
    assert (parse("75%"), parse("100 %"), parse("2kB")) == (750, 1000, 2000)
    for bad in ("0%", "101%", "0", -5, True, None):
        with pytest.raises(ValueError):
            parse(bad)


@pytest.mark.parametrize(
    ("text", "value"), [("500ms", 0.5), ("30", 30), (2.5, 2.5), ("30s", 30), ("5min", 300), ("1h", 3600), ("1d", 86400)]
)
def test_durations(text: object, value: float) -> None:
    assert duration(text) == value


@pytest.mark.parametrize("bad", ["soon", "", "-1", "5 parsecs", -1, True, None, float("nan"), float("inf")])
def test_no_durations(bad: object) -> None:
    with pytest.raises(ValueError):
        duration(bad)


def test_time_zones() -> None:
    assert time_zone("utc") in ("UTC", "utc")
    assert time_zone("America/new_york") == "America/New_York"
    assert time_zone("+05:30") == "+05:30"
    for bad in ("", "Europe", "../etc/passwd", "/etc/passwd", "+25:00", 5, "a\0b", "Europe/" * 2000):
        with pytest.raises(ValueError):
            time_zone(bad)


class TestSettings:
    DEFAULTS = Settings(time_zone="UTC", statement_timeout=0.0, target_partitions=4, batch_size=8192)

    def test_come_from_the_configuration(self) -> None:
        assert Settings.of(EngineConfig(time_zone="+01:00", target_partitions=9)).target_partitions == 9

    def test_set_and_reset(self) -> None:
        changed = self.DEFAULTS.with_value("TIME_ZONE", "europe/athens").with_value("statement_timeout", "5min")
        assert (changed.time_zone, changed.statement_timeout) == ("Europe/Athens", 300)
        assert changed.with_default("time_zone", self.DEFAULTS).time_zone == "UTC"
        assert changed.with_default(None, self.DEFAULTS) == self.DEFAULTS
        assert self.DEFAULTS.time_zone == "UTC"

    def test_unknown_names_list_the_known(self) -> None:
        for attempt in (
            lambda: self.DEFAULTS.with_value("colour", "red"),
            lambda: self.DEFAULTS.with_default("colour", self.DEFAULTS),
        ):
            with pytest.raises(SettingNotFound, match=r"'colour' does not exist; available: batch_size, .*time_zone"):
                attempt()

    def test_bad_values(self) -> None:
        with pytest.raises(InvalidArgument, match="batch_size must be a whole number from 1 to 1048576, not 'many'"):
            self.DEFAULTS.with_value("batch_size", "many")

    def test_rows_can_be_set_again(self) -> None:
        changed = self.DEFAULTS.with_value("statement_timeout", "1.5")
        rows = changed.rows(self.DEFAULTS)
        assert rows[1][:3] == ("statement_timeout", "1.5", "0")
        again = self.DEFAULTS
        for row in rows:
            again = again.with_value(row.name, row.value)
        assert again == changed


def test_memory_of_a_container(tmp_path: Path) -> None:
    limit, none, word = tmp_path / "limit", tmp_path / "none", tmp_path / "word"
    limit.write_text("1048576\n")
    word.write_text("max\n")
    assert machine.memory((limit, none, word)) == 1048576
    assert machine.memory((none, word)) == machine.memory(())


def test_what_is_wrong_in_a_file_is_reported_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "pinakes.toml").write_text("[engine\n")
    with pytest.raises(ConfigError, match=r"pinakes\.toml: the configuration is not valid TOML"):
        load_config(cwd=tmp_path, environ={})


def test_who_may_call_the_server(tmp_path: Path) -> None:
    (tmp_path / "bob.txt").write_text("hush\n")
    toml = '[server.users]\nann = { env = "ANN" }\nbob = { file = "bob.txt" }\n[server.tokens]\nrobot = "t0k3n"'
    server = parse_config(toml, tmp_path, {"ANN": "geheim"}).server
    assert (server.users, server.tokens) == ({"ann": "geheim", "bob": "hush"}, {"robot": "t0k3n"})
    assert "geheim" not in repr(server)
    assert "t0k3n" not in repr(server)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[server]\nport = 1", r"\[server\] has no key or section 'port'; available: administrators"),
        ("[server]\nresult_ttl = 0", "server.result_ttl must be a duration above 0"),
        ("[server]\nmost_calls = 0", "server.most_calls must be"),
        ('[server.users]\nann = ""', "server.users.ann is empty"),
        ('[server.users]\nann = { env = "NOWHERE" }', "NOWHERE, which is not set"),
        ("[server.tokens]\nann = 1", "server.tokens.ann must be a text"),
    ],
)
def test_wrong_callers_are_reported(toml: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parsed(toml)


def test_limits_of_the_server_stand_beside_its_users(tmp_path: Path) -> None:
    server = parse_config("[server]\nresult_ttl = '5min'\nmost_calls = 7\n[server.users]\nann = 'x'", tmp_path).server
    assert (server.limits.result_ttl, server.limits.most_calls, server.limits.most_results) == (300.0, 7, 1000)
    assert server.users == {"ann": "x"}
