"""The table of Flight SQL commands, one line each."""

from __future__ import annotations

from pinakes.flight.commands.base import Command
from pinakes.flight.commands.get_catalogs import GetCatalogs
from pinakes.flight.commands.get_cross_reference import GetCrossReference
from pinakes.flight.commands.get_db_schemas import GetDbSchemas
from pinakes.flight.commands.get_exported_keys import GetExportedKeys
from pinakes.flight.commands.get_imported_keys import GetImportedKeys
from pinakes.flight.commands.get_primary_keys import GetPrimaryKeys
from pinakes.flight.commands.get_sql_info import GetSqlInfo
from pinakes.flight.commands.get_table_types import GetTableTypes
from pinakes.flight.commands.get_tables import GetTables
from pinakes.flight.commands.get_xdbc_type_info import GetXdbcTypeInfo
from pinakes.flight.commands.prepared_statement_query import PreparedStatementQuery
from pinakes.flight.commands.prepared_statement_update import PreparedStatementUpdate
from pinakes.flight.commands.statement_ingest import StatementIngest
from pinakes.flight.commands.statement_query import StatementQuery
from pinakes.flight.commands.statement_update import StatementUpdate
from pinakes.flight.commands.substrait import StatementSubstraitPlan
from pinakes.flight.commands.ticket_statement_query import TicketStatementQuery

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
