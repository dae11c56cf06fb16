# Asks a Weir (the canned one of the tests) through SQLAlchemy: dialect start-up, parameters, streamed results.
import sys

import sqlalchemy

engine = sqlalchemy.create_engine(f"postgresql+psycopg://ana@127.0.0.1:{sys.argv[1]}/lake")
with engine.connect() as connection:
    print(engine.dialect.server_version_info)
    print(connection.execute(sqlalchemy.text("select n from numbers where n < :most"), {"most": 3}).fetchall())
with engine.connect().execution_options(stream_results=True, max_row_buffer=10) as connection:
    result = connection.execute(sqlalchemy.text("select n from numbers(1000000)"))
    print("1000000 rows wanted,", len(result.fetchmany(30)), "read")
    result.close()
