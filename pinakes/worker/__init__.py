"""Write a catalog in fifty lines: the SDK of workers, which implement the VGI worker protocol.

    class MyWorker(Worker):
        catalog = Catalog(name="mydb", schemas=[Schema(name="main", tables=[Table(name="users", function=Users)])])

    if __name__ == "__main__":
        MyWorker().run()

`ATTACH 'mydb' (TYPE vgi, LOCATION './my-worker')` mounts it. `catalog/` has the catalogs of a worker,
`serving/` the server side, `client/` the client side, `wire/` the encoding.
"""

from __future__ import annotations

from pinakes.worker.scalar_function import ScalarFunction
from pinakes.worker.table_function import OutputCollector, ProcessParams, TableFunctionGenerator
from pinakes.worker.worker import Worker

__all__ = ["OutputCollector", "ProcessParams", "ScalarFunction", "TableFunctionGenerator", "Worker"]
