# Asks each text in binary through psycopg and prints its rows as psql would, or the code of its error.
import sys

import psycopg


def cell(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "t" if value else "f"
    return str(value)


with psycopg.connect(f"host=127.0.0.1 port={sys.argv[1]} user=local dbname=weir", autocommit=True) as connection:
    for sql in sys.argv[2:]:
        try:
            rows = connection.cursor(binary=True).execute(sql).fetchall()
            print("\n".join("|".join(cell(value) for value in row) for row in rows))
        except psycopg.Error as error:
            print(error.diag.sqlstate)
        print("----")
