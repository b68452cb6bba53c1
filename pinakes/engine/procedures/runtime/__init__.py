"""The procedures of the engine itself, `CALL system.runtime.x(…)`: each module has a PROCEDURE. Procedures of tables
are one level up.
"""
