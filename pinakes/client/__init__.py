"""The client side of the remote shell: a shell backend that uses a Pinakes Flight SQL server.

Start reading at `shell_backend.py`; `wire.py` makes the calls, `address.py` and `login.py` hold address and
credentials, `rows.py` fetches results, `completion_source.py` loads completion names, `errors.py` converts errors. This
package does not load DataFusion.
"""
