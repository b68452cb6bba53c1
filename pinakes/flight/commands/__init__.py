"""The commands of Flight SQL, one module each; `table.py` lists them. A command translates between messages and
sessions of the engine, and decides nothing about SQL.
"""
