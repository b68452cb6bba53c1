"""What an application uses: `connection.py` (read first), the cursor, relations; `build.py` makes the engine."""
