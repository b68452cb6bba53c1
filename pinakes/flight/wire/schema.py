"""The messages of Flight SQL that a server uses, as data: a field is `name number type`; `?` marks an optional field,
`*` a repeated one and `{}` a map with string keys. `messages.py` builds protobuf classes from it when the server
starts.

Declared here instead of generated, because generated code works with one major version of protobuf only, and other
packages in the same environment (dbt-core) require another.
"""

from __future__ import annotations

SQL = "arrow.flight.protocol.sql"
FLIGHT = "arrow.flight.protocol"

_TABLE = "catalog 1 string?, db_schema 2 string?, table 3 string"
_STATEMENT = "query 1 string, transaction_id 2 bytes?"
_HANDLE = "prepared_statement_handle 1 bytes"

SQL_MESSAGES = {
    # GetFlightInfo, GetSchema, DoGet
    "CommandStatementQuery": _STATEMENT,
    "CommandPreparedStatementQuery": _HANDLE,
    "CommandGetCatalogs": "",
    "CommandGetDbSchemas": "catalog 1 string?, db_schema_filter_pattern 2 string?",
    "CommandGetTables": (
        "catalog 1 string?, db_schema_filter_pattern 2 string?, table_name_filter_pattern 3 string?, "
        "table_types 4 string*, include_schema 5 bool"
    ),
    "CommandGetTableTypes": "",
    "CommandGetSqlInfo": "info 1 uint32*",
    "CommandGetXdbcTypeInfo": "data_type 1 int32?",
    "CommandGetPrimaryKeys": _TABLE,
    "CommandGetExportedKeys": _TABLE,
    "CommandGetImportedKeys": _TABLE,
    "CommandGetCrossReference": (
        "pk_catalog 1 string?, pk_db_schema 2 string?, pk_table 3 string, "
        "fk_catalog 4 string?, fk_db_schema 5 string?, fk_table 6 string"
    ),
    "TicketStatementQuery": "statement_handle 1 bytes",
    # DoPut
    "CommandStatementUpdate": _STATEMENT,
    "CommandPreparedStatementUpdate": _HANDLE,
    "TableDefinitionOptions": "if_not_exist 1 int32, if_exists 2 int32",
    "CommandStatementIngest": (
        "table_definition_options 1 TableDefinitionOptions, table 2 string, schema 3 string?, catalog 4 string?, "
        "temporary 5 bool, transaction_id 6 bytes?, options 1000 string{}"
    ),
    "DoPutUpdateResult": "record_count 1 int64",
    "DoPutPreparedStatementResult": "prepared_statement_handle 1 bytes?",
    # actions
    "ActionCreatePreparedStatementRequest": _STATEMENT,
    "ActionCreatePreparedStatementResult": (
        "prepared_statement_handle 1 bytes, dataset_schema 2 bytes, parameter_schema 3 bytes, is_update 4 bool?"
    ),
    "ActionClosePreparedStatementRequest": _HANDLE,
    "ActionBeginTransactionRequest": "",
    "ActionBeginTransactionResult": "transaction_id 1 bytes",
    "ActionEndTransactionRequest": "transaction_id 1 bytes, action 2 int32",
    "ActionCancelQueryRequest": "info 1 bytes",
    "ActionCancelQueryResult": "result 1 int32",
    # known but not supported
    "SubstraitPlan": "plan 1 bytes, version 2 string",
    "CommandStatementSubstraitPlan": "plan 1 SubstraitPlan, transaction_id 2 bytes?",
    "ActionCreatePreparedSubstraitPlanRequest": "plan 1 SubstraitPlan, transaction_id 2 bytes?",
    "ActionBeginSavepointRequest": "transaction_id 1 bytes, name 2 string",
    "ActionEndSavepointRequest": "savepoint_id 1 bytes, action 2 int32",
}
"""Enums are declared as int32, their wire type."""

FLIGHT_MESSAGES = {
    "Ticket": "ticket 1 bytes",
    "Location": "uri 1 string",
    "Timestamp": "seconds 1 int64, nanos 2 int32",
    "FlightEndpoint": "ticket 1 Ticket, location 2 Location*, expiration_time 3 Timestamp, app_metadata 4 bytes",
    "FlightDescriptor": "type 1 int32, cmd 2 bytes, path 3 string*",
    "FlightInfo": (
        "schema 1 bytes, flight_descriptor 2 FlightDescriptor, endpoint 3 FlightEndpoint*, total_records 4 int64, "
        "total_bytes 5 int64, ordered 6 bool, app_metadata 7 bytes"
    ),
    "CancelFlightInfoRequest": "info 1 FlightInfo",
    "CancelFlightInfoResult": "status 1 int32",
    "RenewFlightEndpointRequest": "endpoint 1 FlightEndpoint",
    "StringListValue": "values 1 string*",
    "SessionOptionValue": (
        "string_value 1 string|, bool_value 2 bool|, int64_value 3 sfixed64|, double_value 4 double|, "
        "string_list_value 5 StringListValue|"
    ),
    "SessionOptionError": "value 1 int32",
    "SetSessionOptionsRequest": "session_options 1 SessionOptionValue{}",
    "SetSessionOptionsResult": "errors 1 SessionOptionError{}",
    "GetSessionOptionsRequest": "",
    "GetSessionOptionsResult": "session_options 1 SessionOptionValue{}",
    "CloseSessionRequest": "",
    "CloseSessionResult": "status 1 int32",
}
"""Fields with `|` form a oneof: at most one is set."""
