# Makes the data of TPC-H in a folder: a text file for each table, the small tables once more in SQLite, and the published answers.
import glob
import os
import sqlite3
import sys

import duckdb

folder, scale = sys.argv[1:3]
# The declared types of the small tables, which alone are also in SQLite.
SMALL = {
    "region": "r_regionkey INTEGER PRIMARY KEY, r_name TEXT NOT NULL, r_comment TEXT NOT NULL",
    "nation": "n_nationkey INTEGER PRIMARY KEY, n_name TEXT NOT NULL, n_regionkey INTEGER NOT NULL, n_comment TEXT NOT NULL",
}
TABLES = ["region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem"]

site = os.path.dirname(os.path.dirname(duckdb.__file__))
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
connection.load_extension(glob.glob(f"{site}/**/tpch.duckdb_extension", recursive=True)[0])
connection.execute("SET enable_progress_bar = false")
connection.execute(f"CALL dbgen(sf = {float(scale)})")
for table in TABLES:
    connection.execute(f"COPY {table} TO '{folder}/{table}.csv' (HEADER false, DELIMITER '|', QUOTE '', ESCAPE '')")
small = sqlite3.connect(f"{folder}/small.db")
for table, columns in SMALL.items():
    rows = connection.execute(f"SELECT * FROM {table}").fetchall()
    small.execute(f"DROP TABLE IF EXISTS {table}")
    small.execute(f"CREATE TABLE {table} ({columns})")
    small.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
small.commit()
small.execute("ANALYZE")
small.commit()
answers = connection.execute(f"SELECT query_nr, answer FROM tpch_answers() WHERE abs(scale_factor - {float(scale)}) < 0.0001").fetchall()
for number, answer in answers:
    with open(f"{folder}/answer-{number}.csv", "w", encoding="utf-8") as file:
        file.write(answer)
