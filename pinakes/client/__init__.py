"""The remote side: a seat for the shell at an engine behind a Flight SQL server of ours.

`seat.py` is where to start; `wire.py` makes the calls, `address.py` and `login.py` say where to and as whom, `rows.py`
fetches results, `sight.py` is what completion sees, `errors.py` what becomes of what went wrong. DataFusion is not
loaded here.
"""
