"""Files as tables, COPY, and object stores by path; `access.py` decides which local files SQL may use. Data files of
Iceberg tables belong to `engine/iceberg`.
"""
