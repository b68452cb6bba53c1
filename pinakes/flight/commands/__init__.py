"""The commands of Flight SQL by subject; `table.py` lists them. A command translates between messages and sessions of
the engine, and decides nothing about SQL.
"""
