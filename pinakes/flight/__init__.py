"""The Flight SQL server. Start reading at `server.py`. No other package imports pyarrow.flight on the server side."""
