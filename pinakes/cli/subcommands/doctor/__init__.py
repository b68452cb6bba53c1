"""`pinakes doctor`: checks of the installation, the configuration and the catalogs, with advice for each problem. It
reports and changes nothing.

`cli/subcommands/doctor/run.py` runs the groups of checks, one module each; `cli/subcommands/doctor/finding.py` is the
result of a check, `cli/subcommands/doctor/report.py` prints the results. A check does not raise: its own failure is
reported as a problem."""
