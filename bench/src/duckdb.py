# Answers SQL on standard input with times and rows, as DuckDB does it: one JSON object a line, in and out.
import glob
import json
import os
import sys
import time

import duckdb

threads, memory_limit, temp_folder = sys.argv[1:4]
# The answers have standard output for themselves: DuckDB draws progress bars on it.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
site = os.path.dirname(os.path.dirname(duckdb.__file__))
connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": threads})
for name in ["avro", "iceberg", "postgres_scanner", "mysql_scanner", "sqlite_scanner"]:
    connection.load_extension(glob.glob(f"{site}/**/{name}.duckdb_extension", recursive=True)[0])
connection.execute(f"SET temp_directory = '{temp_folder}'")
connection.execute("SET enable_progress_bar = false")
if memory_limit:
    connection.execute(f"SET memory_limit = '{memory_limit}'")

for line in sys.stdin:
    try:
        sql = json.loads(line)["sql"]
        began = time.perf_counter()
        rows = connection.execute(sql).fetchall()
        seconds = time.perf_counter() - began
        said = {"seconds": seconds, "rows": ["|".join("NULL" if v is None else str(v) for v in row) for row in rows]}
    except Exception as error:  # told to whoever asked
        said = {"error": str(error)}
    print(json.dumps(said), file=answers, flush=True)
