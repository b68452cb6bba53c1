"""The interactive prompt: reading input, completion menus, highlighting, history and keys. What a name completes to is
decided in `api/completion`; statements run in `cli/runner.py`.
"""
