#!/usr/bin/env python3
"""Notes that SQL writes, in transactions: CREATE TABLE makes one, COMMENT ON TABLE is its text, SELECT reads its lines.

ATTACH 'notes' (TYPE vgi, LOCATION 'python examples/workers/notes.py', PATH '/some/dir/notes.db');
"""

import pyarrow as pa

from pinakes.worker import TableFunctionGenerator, Worker
from pinakes.worker import catalog as c


class Lines(TableFunctionGenerator):
    """The lines of a note."""

    ARGUMENTS, FIXED_SCHEMA = pa.schema([("note", pa.string())]), pa.schema([("text", pa.string())])

    @classmethod
    def process(cls, params, state, out):
        notes = Notes().content(params.attach_opaque_data, params.transaction_opaque_data)
        out.emit(pa.record_batch([(notes[params.arguments["note"]] or "").splitlines()], schema=cls.FIXED_SCHEMA))
        out.finish()


class Notes(c.StoredContent, c.ReadOnlyCatalogInterface):
    """Its content is a dict of texts by the name of the note; its attachment is the path of the storage."""

    catalog_name, functions = "notes", [Lines]

    def storage(self, attach_opaque_data):
        return c.CatalogStorageSqlite(attach_opaque_data.decode())

    def catalog_attach(self, *, name, options):
        return c.CatalogAttachResult(attach_opaque_data=options["path"].encode(), supports_transactions=True)

    def schema_contents(self, *, type=None, **where):
        notes = self.content(**where) if type in (None, c.SchemaObjectType.TABLE) else {}
        return [*super().schema_contents(type=type, **where), *(self._info(*note) for note in notes.items())]

    def table_get(self, *, name, **where):
        return next((self._info(*note) for note in self.content(**where).items() if note[0] == name), None)

    def table_scan_function_get(self, *, name, **_):
        return c.ScanFunctionResult(function_name="lines", positional_arguments=[pa.scalar(name)])

    def table_comment_set(self, *, name, comment=None, **where):
        self.change({**self.content(**where), name: comment}, **where)

    table_create = table_comment_set  # of a new note, whose columns are always the same

    def table_drop(self, *, name, **where):
        self.change({note: text for note, text in self.content(**where).items() if note != name}, **where)

    def _info(self, name, text):
        return c.TableInfo(name=name, schema_name="main", columns=Lines.FIXED_SCHEMA.serialize(), comment=text)


if __name__ == "__main__":
    type("NotesWorker", (Worker,), {"catalog_interface": Notes})().run()
