"""pyiceberg's Glue catalog, with commits whose outcome is checked when a response is lost."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, EndpointConnectionError
from pyiceberg.catalog.glue import GlueCatalog
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException, NoSuchTableError

from pinakes.providers.metastores.client import Metastore


class GlueClientCatalog(Metastore, GlueCatalog):
    """Checks a failed update: a request that boto3 retries after a lost response conflicts with its own effect, which
    is a success.
    """

    def _update_glue_table(self, database_name: str, table_name: str, table_input: Any, version_id: str) -> None:
        try:
            super()._update_glue_table(database_name, table_name, table_input, version_id)
        except EndpointConnectionError:
            raise  # not connected: nothing was sent
        except (CommitFailedException, BotoCoreError) as error:
            wanted = table_input["Parameters"]["metadata_location"]
            if self._metadata_location(database_name, table_name, error) != wanted:
                if isinstance(error, CommitFailedException):
                    raise
                raise CommitStateUnknownException("Glue did not answer in time") from error

    def _metadata_location(self, database_name: str, table_name: str, error: Exception) -> str | None:
        try:
            found = self._get_glue_table(database_name, table_name)
        except NoSuchTableError:
            return None
        except BotoCoreError:
            raise CommitStateUnknownException("Glue did not answer in time") from error
        return str(found.get("Parameters", {}).get("metadata_location"))

    def close(self) -> None:
        self.glue.close()
