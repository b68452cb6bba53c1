"""The procedures of the engine, `CALL system.runtime.x(…)`: each is a module here with a PROCEDURE."""
