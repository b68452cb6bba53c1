"""The subcommands of `pinakes` other than the shell: config, doctor, pipeline, serve and user. They parse arguments and
print; the work is done in `server`, `pipelines` and `config`.
"""
