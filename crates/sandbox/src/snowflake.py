# Runs SQL on the warehouse stand-in through Snowflake's own connector: one connection, statements from standard input,
# rows of the last one to standard output (fields parted by tabs, NULL is empty).
import logging
import os
import sys

import snowflake.connector

logging.getLogger("snowflake.connector").setLevel(logging.ERROR)


def main() -> int:
    connection = snowflake.connector.connect(
        host="127.0.0.1",
        port=int(os.environ["WEIR_SNOWFLAKE_PORT"]),
        protocol="http",
        account=os.environ["WEIR_SNOWFLAKE_ACCOUNT"],
        user=os.environ["WEIR_SNOWFLAKE_USER"],
        password=os.environ["WEIR_SNOWFLAKE_PASSWORD"],
        session_parameters={"CLIENT_OUT_OF_BAND_TELEMETRY_ENABLED": False},
        login_timeout=10,
    )
    rows = []
    try:
        for cursor in connection.execute_string(sys.stdin.read()):
            rows = cursor.fetchall()
    except snowflake.connector.errors.Error as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        connection.close()
    for row in rows:
        print("\t".join("" if value is None else str(value) for value in row))
    return 0


sys.exit(main())
