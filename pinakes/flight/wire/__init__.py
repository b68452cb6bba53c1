"""The messages of Flight and Flight SQL: `schema.py` declares them, `messages.py` reads and writes them. Nothing here
acts on a message.
"""
