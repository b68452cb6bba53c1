"""Third-party sqllogictest files, run here and in DuckDB: the rows of every query that both answer must be the same.

The files are read from a directory that the user names; nothing of them is kept here. DuckDB's and sqlite's are known
to work. The rows that a file expects are not used: DuckDB, set to PostgreSQL's order of NULL and to its division of
integers, answers each query again. `differences.py` lists what may differ, with the reason.

    python -m tests.corpora DIR                        all files below DIR
    python -m tests.corpora DIR --sample 50 --seed 7   some of them
    PINAKES_CORPUS=DIR pytest tests/corpora            a sample as a test

`records.py` reads a file, `compare.py` compares rows, `undetermined.py` finds queries with more than one right answer,
`one_file.py` runs a file in both engines, `runs.py` runs many files in a child process and adds up what it reports.
"""
