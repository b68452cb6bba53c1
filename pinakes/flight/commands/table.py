"""The table of Flight SQL commands, one line each."""

from __future__ import annotations

from pinakes.flight.commands.base import Command
from pinakes.flight.commands.ingest import StatementIngest
from pinakes.flight.commands.keys import GetCrossReference, GetExportedKeys, GetImportedKeys, GetPrimaryKeys
from pinakes.flight.commands.metadata import GetCatalogs, GetDbSchemas, GetTables, GetTableTypes
from pinakes.flight.commands.server_info import GetSqlInfo, GetXdbcTypeInfo
from pinakes.flight.commands.statements import (
    PreparedStatementQuery,
    PreparedStatementUpdate,
    StatementQuery,
    StatementSubstraitPlan,
    StatementUpdate,
    TicketStatementQuery,
)

COMMANDS: dict[str, Command] = {
    "CommandStatementQuery": StatementQuery(),
    "CommandPreparedStatementQuery": PreparedStatementQuery(),
    "CommandStatementUpdate": StatementUpdate(),
    "CommandPreparedStatementUpdate": PreparedStatementUpdate(),
    "CommandStatementIngest": StatementIngest(),
    "CommandStatementSubstraitPlan": StatementSubstraitPlan(),
    "CommandGetCatalogs": GetCatalogs(),
    "CommandGetDbSchemas": GetDbSchemas(),
    "CommandGetTables": GetTables(),
    "CommandGetTableTypes": GetTableTypes(),
    "CommandGetSqlInfo": GetSqlInfo(),
    "CommandGetXdbcTypeInfo": GetXdbcTypeInfo(),
    "CommandGetPrimaryKeys": GetPrimaryKeys(),
    "CommandGetExportedKeys": GetExportedKeys(),
    "CommandGetImportedKeys": GetImportedKeys(),
    "CommandGetCrossReference": GetCrossReference(),
    "TicketStatementQuery": TicketStatementQuery(),
}
