"""A worker that goes wrong in the way that its first argument names; else it serves one table, `t`."""

import os
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa

from pinakes.worker import ScalarFunction, TableFunctionGenerator, Worker
from pinakes.worker.catalog import Catalog, Schema, Table
from pinakes.worker.serving import dispatch, pipe
from pinakes.worker.wire import protocol

FAULT = sys.argv.pop(1) if len(sys.argv) > 1 else ""
COLUMNS = pa.schema([("i", pa.int64()), ("s", pa.string())])

OTHERS = pa.schema([("i", pa.string()), ("s", pa.string())])


class Rows(TableFunctionGenerator):
    FIXED_SCHEMA = COLUMNS

    @classmethod
    def initial_state(cls, params):
        return [0]

    @classmethod
    def process(cls, params, state, out):
        state[0] += 1
        if state[0] == 3:
            fail(out)
        out.emit(pa.record_batch([[state[0]], ["x"]], schema=COLUMNS))
        if state[0] == 5:
            out.finish()


class Broken(ScalarFunction):
    ARGUMENTS = pa.schema([("x", pa.int64())])
    OUTPUT = pa.int64()

    @classmethod
    def compute(cls, params, x):
        if FAULT == "die in a value":
            os._exit(4)
        raise RuntimeError("this value can't be")


class Negated(ScalarFunction):
    ARGUMENTS = pa.schema([("x", pa.int64())])
    OUTPUT = pa.int64()

    @classmethod
    def compute(cls, params, x):
        return pa.array([-v for v in x.to_pylist()], pa.int64())


def fail(out):
    if FAULT == "die in the middle":
        sys.stderr.write("about to die: disk on fire\n")
        sys.stderr.flush()
        os._exit(3)
    if FAULT == "die between batches":
        threading.Timer(0.5, lambda: os._exit(5)).start()  # when all that was said has been read
        time.sleep(60)
    if FAULT == "raise":
        raise RuntimeError("the service is down")
    if FAULT.startswith("hang in the middle"):
        if mark := FAULT.removeprefix("hang in the middle").strip():
            Path(mark).touch()
        time.sleep(600)
    if FAULT == "flood":
        sys.stderr.write("water " * 300_000 + "\n" + "drop\n" * 50_000)
        sys.stderr.flush()


class Bad(Worker):
    catalog = Catalog(
        name="bad",
        schemas=[Schema(name="main", tables=[Table(name="t", function=Rows)], functions=[Broken, Negated])],
    )


if FAULT == "garbage":
    sys.stdin.buffer.read(10)
    sys.stdout.write("this is a program that speaks something else\n" * 100)
    sys.stdout.flush()
    time.sleep(600)
if FAULT == "silent":
    time.sleep(600)
if FAULT == "exit at once":
    sys.exit("no configuration: set HOME_OF_DATA")
if FAULT == "old version":
    protocol.speaks = lambda version: False
if FAULT == "wrong schema":

    def started(function, bind, values, real=dispatch.started):
        running = real(function, bind, values)
        running.schema = OTHERS
        running.next = lambda: pa.record_batch([["text"], ["x"]], schema=OTHERS)
        return running

    dispatch.started = started
if FAULT == "half a message":
    real = pipe.answer_bytes
    pipe.answer_bytes = lambda method, value: real(method, value)[:-20]
    pipe.read_request, first = (lambda source, read=pipe.read_request: first.pop()(source)), [None, pipe.read_request]
    first[0] = lambda source: os._exit(0)

if __name__ == "__main__":
    Bad().run()
