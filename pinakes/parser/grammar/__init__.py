"""The grammar of statements: each function reads one form from a cursor that stands after the first word. What a
statement does belongs to `engine/commands`.
"""
