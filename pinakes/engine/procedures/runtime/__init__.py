"""The procedures of the engine itself, `CALL system.runtime.x(…)`: each is a module here that has a PROCEDURE."""
