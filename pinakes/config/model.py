"""The configuration of one engine: frozen values from one TOML file, built at the edge and passed down.

The file is the first of: the path given (`--config`), the one that PINAKES_CONFIG names, `./pinakes.toml`, and
`config.toml` in the user's configuration directory. Without one, everything has its default. Paths in the file are
relative to it. Values of the configuration come from environment variables only here.

    [engine]
    data = "/srv/pinakes"
    memory_limit = "75%"

    [caches.listings]
    ttl = "10s"

    [secrets.partner]
    type = "bearer"
    token = { env = "PARTNER_TOKEN" }
    scope = "http://127.0.0.1:8181"
    users = ["ann"]

    [catalogs.partner]
    type = "iceberg_rest"
    location = "http://127.0.0.1:8181"
    secret = "partner"
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pinakes.config.sections import known_only, path_from, secret_value, section, table_of
from pinakes.core import machine
from pinakes.core.errors import ConfigError, listing
from pinakes.core.names import RESERVED_CATALOGS, quote
from pinakes.core.values import documented, duration, one_of, share_or_size, size, text, texts, time_zone, truth, whole

if TYPE_CHECKING:
    from pinakes.config.server import AccessConfig, ServerConfig
    from pinakes.config.spark import SparkConfig

MEMORY = ":memory:"
"""Value of `engine.data`: a temporary directory that is removed when the engine closes."""

MOST_PARTITIONS, MOST_ROWS = 512, 1_048_576
"""Upper limit of target_partitions and batch_size: DataFusion allocates by them before it reads a row, and much larger
values end the process.
"""

T = TypeVar("T")


def _user_data() -> str:
    import platformdirs

    return platformdirs.user_data_dir("pinakes", appauthor=False)


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """[engine]"""

    data: str = documented(
        text,
        "Directory of the embedded catalog `lake`; `:memory:` is a temporary directory that is removed at exit.",
        factory=_user_data,
        shown="the user's data directory",
    )
    memory_limit: int = documented(
        share_or_size(machine.memory),
        "Memory that all queries can use before they spill to disk: `4GB`, or a share of the machine's such as `75%`.",
        factory=lambda: machine.memory() * 3 // 4,
        shown="75%",
    )
    spill_dir: str | None = documented(
        text,
        "Directory for spilled data (at most 100 GiB per session) and for temporary tables; by default the system's "
        "directory for temporary files.",
        None,
    )
    target_partitions: int = documented(
        whole(1, MOST_PARTITIONS),
        "Number of partitions of a query that run in parallel.",
        factory=machine.processors,
        shown="the number of processors",
    )
    batch_size: int = documented(whole(1, MOST_ROWS), "Rows per batch.", 32_768)
    time_zone: str = documented(time_zone, "Time zone of new sessions: a name, or an offset such as `+02:00`.", "UTC")
    statement_timeout: float = documented(
        duration, "Time after which a statement is cancelled, in seconds or as `5min`; 0 disables it.", 0.0
    )
    allowed_paths: tuple[str, ...] | None = documented(
        texts,
        "Directories, including their subdirectories, in which SQL can read and write files by path; `[]` allows none. "
        "By default all directories are allowed. Files of tables must be in these directories or in those of their "
        "catalog; on a server this also applies if the key is not set.",
        None,
    )
    tracker_queries: int = documented(whole(0), "Maximum number of finished queries in system.runtime.queries.", 1000)
    tracker_age: float = documented(
        duration, "Time for which finished queries are kept, in seconds or as `1h`.", 3600.0
    )
    result_cache: bool = documented(
        truth, "Default of the setting `result_cache` in new sessions.", False, shown="false"
    )
    secret_key_file: str | None = documented(
        text,
        "File with the keys for persistent secrets, in base64, one per line: the first key encrypts, all keys decrypt. "
        "Only its owner may be able to read it. By default `secret.key` in the data directory, which is created on "
        "first use. The environment variable PINAKES_SECRET_KEY (keys separated by commas) takes precedence.",
        None,
    )


@dataclass(frozen=True, slots=True)
class CacheConfig:
    """[caches.NAME]"""

    max_entries: int = documented(whole(0), "Maximum number of entries; 0 disables the cache.", 1000)
    ttl: float = documented(duration, "Time to live of entries, in seconds or as `5min`; 0 for no limit.", 30.0)


@dataclass(frozen=True, slots=True)
class ListingsConfig(CacheConfig):
    """[caches.listings]"""

    stale: float = documented(
        duration,
        "Additional time for which an expired entry is returned while it is re-read in the background, in seconds or "
        "as `5min`; 0 disables this. Entries changed through this engine are never returned this way.",
        0.0,
    )


@dataclass(frozen=True, slots=True)
class SizedCacheConfig:
    """[caches.NAME] of caches that are bounded by memory"""

    max_bytes: int = documented(size, "Maximum memory, in bytes or as `512MB`; 0 disables the cache.", 0)
    ttl: float = documented(duration, "Time to live of entries, in seconds or as `5min`; 0 for no limit.", 3600.0)


@dataclass(frozen=True, slots=True)
class CachesConfig:
    """[caches]: keys for all caches, and one section per cache"""

    memory_budget: int = documented(
        share_or_size(machine.memory),
        "Maximum memory of all caches together: `1GB`, or a share of the machine's such as `10%`. The least recently "
        "used entries of all caches are evicted first.",
        factory=lambda: machine.memory() // 4,
        shown="25%",
    )
    statements: CacheConfig = CacheConfig(max_entries=1000, ttl=0.0)
    listings: ListingsConfig = ListingsConfig(max_entries=10_000, ttl=30.0)
    table_metadata: CacheConfig = CacheConfig(max_entries=1000, ttl=30.0)
    clients: CacheConfig = CacheConfig(max_entries=1000, ttl=300.0)
    session_catalogs: CacheConfig = CacheConfig(max_entries=10_000, ttl=300.0)
    plans: CacheConfig = CacheConfig(max_entries=1000, ttl=300.0)
    manifests: SizedCacheConfig = SizedCacheConfig(max_bytes=512_000_000, ttl=3600.0)
    footers: SizedCacheConfig = SizedCacheConfig(max_bytes=50 * 1024 * 1024, ttl=3600.0)
    results: SizedCacheConfig = SizedCacheConfig(max_bytes=64_000_000, ttl=3600.0)


@dataclass(frozen=True, slots=True)
class CatalogConfig:
    """[catalogs.NAME]: a catalog to mount at start. A repr omits location and options, which may hold secrets."""

    name: str
    type: str
    location: str | None = field(default=None, repr=False)
    options: Mapping[str, object] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class SecretConfig:
    """[secrets.NAME]: a secret for the catalogs of the configuration, and for the users and roles that it names; `"*"`
    is every user. A value is a text, { env = "VARIABLE" } or { file = "path" }.
    """

    name: str
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    users: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogConfig:
    """[log]"""

    level: str = documented(
        one_of("debug", "info", "warning", "error", "critical"),
        "Minimum severity of log messages: debug, info, warning, error or critical. A server logs each statement at "
        "level info.",
        "warning",
    )
    format: str = documented(
        one_of("text", "json"), "Log format of a server: text, or one JSON object per line.", "text"
    )


@dataclass(frozen=True, slots=True)
class Config:
    """The complete configuration. `source` is the file that it was read from."""

    engine: EngineConfig = field(default_factory=EngineConfig)
    caches: CachesConfig = field(default_factory=CachesConfig)
    secrets: Mapping[str, SecretConfig] = field(default_factory=dict)
    catalogs: Mapping[str, CatalogConfig] = field(default_factory=dict)
    given_server: ServerConfig | None = None
    given_access: AccessConfig | None = None
    given_spark: SparkConfig | None = None
    log: LogConfig = field(default_factory=LogConfig)
    source: Path | None = None

    @property
    def server(self) -> ServerConfig:
        """[server]. Loaded on first access, since only servers need it."""
        from pinakes.config.server import default_server

        return self.given_server or default_server()

    @property
    def access(self) -> AccessConfig:
        """[access]"""
        from pinakes.config.server import AccessConfig

        return self.given_access or AccessConfig()

    @property
    def spark(self) -> SparkConfig:
        """[spark]"""
        from pinakes.config.spark import SparkConfig

        return self.given_spark or SparkConfig()


# --- loading -----------------------------------------------------------------------------------------------------


def load_config(
    path: Path | None = None,
    *,
    data: str | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Config:
    """Loads the configuration from the first file that exists; `data` (`--data`) overrides its data directory."""
    cwd = cwd or Path.cwd()
    environ = os.environ if environ is None else environ
    source = find_config(path, environ, cwd)
    config = Config() if source is None else _loaded(source, environ)
    if data is None:
        return config
    if not data:
        raise ConfigError(f"the data directory is empty; give a directory, or {MEMORY} for a temporary one")
    return replace(config, engine=replace(config.engine, data=_resolved(data, cwd)))


def aws_variables() -> frozenset[str]:
    """Returns the names of the AWS variables that are set: some libraries read them regardless of their arguments."""
    return frozenset(name.upper() for name in os.environ if name.upper().startswith("AWS_"))


def secret_keys() -> str | None:
    """Returns the keys of persistent secrets from the environment."""
    return os.environ.get("PINAKES_SECRET_KEY") or None


def java_home() -> str | None:
    """Returns JAVA_HOME of the environment."""
    return os.environ.get("JAVA_HOME") or None


def proxy_of(address: str) -> str | None:
    """Returns the proxy that the environment, or the system, sets for an address."""
    from urllib.request import getproxies, proxy_bypass

    proxies, parts = getproxies(), urlsplit(address)
    named = proxies.get(parts.scheme) or proxies.get("all")
    return None if named is None or proxy_bypass(parts.netloc) else named


def _loaded(source: Path, environ: Mapping[str, str]) -> Config:
    """Loads the configuration from a file. Errors name the file, since the user may not have chosen it."""
    try:
        return replace(parse_config(read_source(source), source.parent, environ), source=source)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error.message}") from error


def parse_config(toml: str, base: Path, environ: Mapping[str, str] | None = None) -> Config:
    """Parses a TOML text; relative paths start at `base`."""
    return config_of(read_toml(toml), base, environ)


def read_toml(toml: str) -> dict[str, Any]:
    import tomllib  # most processes run without a file

    try:
        return tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the configuration is not valid TOML: {error}") from error


def config_of(document: Mapping[str, Any], base: Path, environ: Mapping[str, str] | None = None) -> Config:
    """Builds the configuration from a parsed TOML document."""
    sections = ("engine", "caches", "secrets", "catalogs", "server", "access", "spark", "log")
    known_only(document, sections, "the configuration", "section")
    engine = section(EngineConfig(), document.get("engine", {}), "engine")
    spill = engine.spill_dir and _resolved(engine.spill_dir, base)
    allowed = engine.allowed_paths and tuple(_resolved(path, base) for path in engine.allowed_paths)
    return Config(
        engine=replace(
            engine,
            data=_resolved(engine.data, base),
            spill_dir=spill,
            allowed_paths=allowed,
            secret_key_file=engine.secret_key_file and path_from(base, engine.secret_key_file),
        ),
        caches=_caches(document.get("caches", {})),
        secrets={
            n: _secret(n, value, base, environ or {})
            for n, value in table_of(document.get("secrets", {}), "secrets").items()
        },
        catalogs={n: _catalog(n, value) for n, value in table_of(document.get("catalogs", {}), "catalogs").items()},
        given_server=_server(document["server"], base, environ or {}) if "server" in document else None,
        given_access=_access(document["access"]) if "access" in document else None,
        given_spark=_spark(document["spark"], base) if "spark" in document else None,
        log=section(LogConfig(), document.get("log", {}), "log"),
    )


def find_config(path: Path | None, environ: Mapping[str, str], cwd: Path) -> Path | None:
    named = path or (Path(environ["PINAKES_CONFIG"]) if environ.get("PINAKES_CONFIG") else None)
    if named is not None:
        named = cwd / named.expanduser()
        if not named.is_file():
            whence = "" if path else " (from PINAKES_CONFIG)"
            raise ConfigError(f"there is no configuration file {str(named)!r}{whence}")
        return named
    local = cwd / "pinakes.toml"
    return local if local.is_file() else _users_file()


def _users_file() -> Path | None:
    import platformdirs

    users = Path(platformdirs.user_config_dir("pinakes", appauthor=False)) / "config.toml"
    return users if users.is_file() else None


def read_source(source: Path) -> str:
    try:
        return source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the configuration file {str(source)!r} can not be read: {error}") from error


def _resolved(data: str, base: Path) -> str:
    return data if data == MEMORY else path_from(base, data)


def _caches(given: object) -> CachesConfig:
    table = table_of(given, "caches")
    default = CachesConfig()
    known_only(table, [f.name for f in fields(default)], "[caches]", "cache")
    alone = {f.name for f in fields(default) if "parse" in f.metadata}
    sections = {name: value for name, value in table.items() if name not in alone}
    return replace(
        section(default, {name: table[name] for name in alone & table.keys()}, "caches"),
        **{name: section(getattr(default, name), value, f"caches.{name}") for name, value in sections.items()},
    )


def _catalog(name: str, given: object) -> CatalogConfig:
    where = f"catalogs.{name}"
    if name.casefold() in ("", *RESERVED_CATALOGS):
        raise ConfigError(
            f"no catalog can be named {quote(name)}; choose another name than {listing(RESERVED_CATALOGS)}"
        )
    options = dict(table_of(given, where))
    kind, location = options.pop("type", None), options.pop("location", None)
    if not isinstance(kind, str) or not kind:
        raise ConfigError(f'[{where}] needs a type, such as type = "sqlite"')
    if location is not None and not isinstance(location, str):
        raise ConfigError(f"{where}.location must be a text")
    return CatalogConfig(name, kind, location, options)


def _secret(name: str, given: object, base: Path, environ: Mapping[str, str]) -> SecretConfig:
    where = f"secrets.{name}"
    table = dict(table_of(given, where))
    named: dict[str, tuple[str, ...]] = {}
    for key in ("users", "roles"):
        if key in table:
            try:
                named[key] = texts(table.pop(key))
            except ValueError as error:
                raise ConfigError(f"{where}.{key} must be {error}") from error
    return SecretConfig(name, {k: secret_value(f"{where}.{k}", v, base, environ) for k, v in table.items()}, **named)


def _server(given: object, base: Path, environ: Mapping[str, str]) -> ServerConfig:
    from pinakes.config.server_section import server

    return server(given, base, environ)


def _access(given: object) -> AccessConfig:
    from pinakes.config.server_section import access

    return access(given)


def _spark(given: object, base: Path) -> SparkConfig:
    from pinakes.config.spark import SparkConfig

    found = section(SparkConfig(), given, "spark")
    cache = found.cache and path_from(base, found.cache)
    spool = found.spool if found.spool is None or "://" in found.spool else path_from(base, found.spool)
    return replace(found, cache=cache, spool=spool)
