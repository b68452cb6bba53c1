"""The parts of the adapter that need no server."""

from __future__ import annotations

import pyarrow as pa
import pytest
from adbc_driver_manager import Error
from dbt.adapters.exceptions import FailedToConnectError
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.pinakes.column import PinakesColumn
from dbt.adapters.pinakes.credentials import PinakesCredentials
from dbt.adapters.pinakes.errors import breaks_the_connection, sentence, translated
from dbt.adapters.pinakes.relation import PinakesRelation
from dbt.adapters.pinakes.script import statements
from dbt.adapters.pinakes.types import sql_name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select 1", ["select 1"]),
        ("select 1;", ["select 1"]),
        ("a; b ;; c", ["a", "b", "c"]),
        ("select ';' as a; b", ["select ';' as a", "b"]),
        ("select 'it''s;' ; b", ["select 'it''s;'", "b"]),
        ("select E'\\';' ; b", ["select E'\\';'", "b"]),
        ('select "a;b" ; `c;d`', ['select "a;b"', "`c;d`"]),
        ("select $$a;b$$; select $x$a;$$;b$x$", ["select $$a;b$$", "select $x$a;$$;b$x$"]),
        ("-- a; b\nselect 1; c", ["-- a; b\nselect 1", "c"]),
        ("/* a; /* b; */ c; */ d; e", ["/* a; /* b; */ c; */ d", "e"]),
        ("-- nothing\n; /* here */", []),
        ("", []),
        ("select 'never closed; a", ["select 'never closed", "a"]),
        ("/* never closed; a", []),
    ],
)
def test_statements(text, expected):
    assert statements(text) == expected


WRAPPED = (
    "INVALID_ARGUMENT: [FlightSQL] TABLE_NOT_FOUND: table a.b (of c) does not exist; available: x. "
    "Detail: Python exception: Refused (InvalidArgument; ExecuteUpdate)"
)


def error(text):
    return Error(text, status_code=0)


def test_an_error_is_the_servers_sentence():
    assert sentence(error(WRAPPED)) == "TABLE_NOT_FOUND: table a.b (of c) does not exist; available: x"
    told = translated(error(WRAPPED), "h:1")
    assert isinstance(told, DbtDatabaseError)
    assert not breaks_the_connection(error(WRAPPED))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("IO: [FlightSQL] connection refused (Unavailable; ExecuteQuery)", "is gone or does not answer"),
        ('IO: [FlightSQL] desc = "refused" (Unavailable; Prepare). Vendor code: 14', "is gone or does not answer"),
        ("UNAUTHENTICATED: [FlightSQL] token is over (Unauthenticated; Prepare)", "Renew the token"),
    ],
)
def test_a_connection_that_is_lost_says_what_to_do(text, says):
    told = translated(error(text), "h:1")
    assert isinstance(told, FailedToConnectError)
    assert says in str(told)
    assert "h:1" in str(told)
    assert breaks_the_connection(error(text))


def credentials(**more):
    return PinakesCredentials(database="lake", schema="s", **more)


@pytest.mark.parametrize(
    ("profile", "says"),
    [
        ({"user": "a"}, "user and password together"),
        ({"user": "a", "password": "b", "token": "c"}, "keep one way to log in"),
        ({"oidc_token_url": "https://x"}, "needs oidc_client_id"),
        ({"tls_ca": "x.pem"}, "set tls to true"),
        ({"host": "db.example", "user": "a", "password": "b"}, "without TLS"),
        ({"host": "192.0.2.1", "token": "t"}, "without TLS"),
        (
            {"oidc_token_url": "http://x/token", "oidc_client_id": "i", "oidc_client_secret": "s"},
            "must be an https:// address",
        ),
    ],
)
def test_profiles_that_can_not_be_meant(profile, says):
    with pytest.raises(DbtRuntimeError, match=says):
        credentials(**profile)


def test_plaintext_must_be_allowed_explicitly():
    assert credentials(host="db.example", token="t", allow_plaintext=True).uri == "grpc://db.example:31337"
    assert credentials(host="db.example", token="t", tls=True).uri == "grpc+tls://db.example:31337"
    assert credentials(host="localhost", token="t").uri == "grpc://localhost:31337"


def test_ways_to_log_in(tmp_path):
    file = tmp_path / "token"
    file.write_text("from-a-file\n")
    assert credentials(user="a", password="b").driver_options()["username"] == "a"
    for given in (credentials(token="direct"), credentials(token_file=str(file))):
        header = given.driver_options()["adbc.flight.sql.authorization_header"]
        assert header in ("Bearer direct", "Bearer from-a-file")
    oidc = credentials(oidc_token_url="https://x/token", oidc_client_id="i", oidc_client_secret="s").driver_options()
    assert oidc["adbc.flight.sql.oauth.flow"] == "client_credentials"
    with pytest.raises(DbtRuntimeError, match="token_file can't be read"):
        credentials(token_file=str(tmp_path / "nowhere")).driver_options()


def test_debug_shows_no_secret():
    given = credentials(user="a", password="very-secret")
    assert "very-secret" not in str(dict(given.connection_info()))
    assert credentials(tls=True, host="h").uri == "grpc+tls://h:31337"


@pytest.mark.parametrize(
    ("schema", "rendered"),
    [("sales", '"c"."sales"."t"'), ("sales.eu", '"c"."sales"."eu"."t"'), ('"a.b".d', '"c"."a.b"."d"."t"')],
)
def test_a_schema_may_have_levels(schema, rendered):
    assert PinakesRelation.create(database="c", schema=schema, identifier="t").render() == rendered


def test_types_go_by_their_sql_names():
    names = {
        pa.int32(): "integer",
        pa.decimal128(10, 2): "decimal(10,2)",
        pa.timestamp("ns"): "timestamp",
        pa.timestamp("us", "UTC"): "timestamp with time zone",
        pa.list_(pa.string()): "array(varchar)",
        pa.struct([("a", pa.int64())]): "row(a bigint)",
        pa.map_(pa.string(), pa.float64()): "map(varchar, double)",
        pa.binary(): "varbinary",
    }
    assert {kind: sql_name(kind) for kind in names} == names
    assert PinakesColumn("a", "decimal(10,2)").is_numeric()
    assert PinakesColumn('q"q', "varchar").quoted == '"q""q"'
