"""The configuration: the sections of the TOML file with their defaults and documentation, the checks of a file, and the
settings that a session changes with SET. Values only: the packages that use them apply them."""
