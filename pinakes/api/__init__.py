"""What an application uses: the engine put together."""
