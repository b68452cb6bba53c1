#!/usr/bin/env python3
"""A table of users, a view and a function: a catalog that is declared.

ATTACH 'myapp' (TYPE vgi, LOCATION 'python examples/workers/users.py');
SELECT name, myapp.main.initials(name) FROM myapp.main.active_users;
"""

from typing import ClassVar

import pyarrow as pa

from pinakes.worker import OutputCollector, ScalarFunction, TableFunctionGenerator, Worker
from pinakes.worker.catalog import Catalog, Schema, Table, View


class UsersFunction(TableFunctionGenerator):
    """Generate user data."""

    FIXED_SCHEMA: ClassVar[pa.Schema] = pa.schema([("id", pa.int64()), ("name", pa.string()), ("active", pa.bool_())])

    @classmethod
    def process(cls, params, state, out: OutputCollector) -> None:
        rows = {"id": [1, 2, 3], "name": ["Alice Ames", "Bob Burr", "Carol Cole"], "active": [True, True, False]}
        out.emit(pa.RecordBatch.from_pydict(rows, schema=cls.FIXED_SCHEMA))
        out.finish()


class Initials(ScalarFunction):
    """The first letters of the words of a name."""

    ARGUMENTS = pa.schema([("name", pa.string())])
    OUTPUT = pa.string()

    @classmethod
    def compute(cls, params, name: pa.Array) -> pa.Array:
        return pa.array([None if n is None else "".join(w[0] for w in n.split()) for n in name.to_pylist()])


UNIQUE, CHECK = [["id"], ["name", "active"]], ["id > 0", "name <> ''"]
users = Table(
    name="users", function=UsersFunction, not_null=["id"], unique=UNIQUE, check=CHECK, comment="User accounts"
)
active = View(name="active_users", definition="SELECT * FROM users WHERE active = true", comment="Active accounts only")


class MyWorker(Worker):
    catalog = Catalog(
        name="myapp",
        schemas=[
            Schema(name="main", comment="Main data", tags={"owner": "crm"}, tables=[users], views=[active],
                   functions=[UsersFunction, Initials]),
        ],
    )  # fmt: skip


if __name__ == "__main__":
    MyWorker().run()
