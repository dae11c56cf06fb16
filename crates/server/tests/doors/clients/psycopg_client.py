# Asks a Weir (the canned one of the tests) through psycopg 3: text and binary, cursors on the server, COPY, cancel, pipelines.
import datetime
import decimal
import math
import sys
import threading

import psycopg

PORT = int(sys.argv[1])
UTC = datetime.timezone.utc
INSTANT = datetime.datetime(2026, 11, 30, 18, 36, 18, 123456, UTC)


def connect(**options):
    return psycopg.connect(host="127.0.0.1", port=PORT, user="ana", dbname="lake", **options)


def check_types(connection):
    for binary in (False, True):
        values, nulls = connection.cursor(binary=binary).execute("select * from every_type").fetchall()
        expected = (
            True, -8, -32768, 2147483647, -9223372036854775808, 4294967295, decimal.Decimal("18446744073709551615"),
        )
        assert values[:7] == expected, values
        assert abs(values[7] - 0.1) < 1e-7 and values[8] == -math.inf, values
        assert str(values[9]) == "-123456789012.3450", values
        assert values[10:13] == ('naïve \\ \t, "q"', b"\x00\x01\xff", datetime.date(2026, 11, 30)), values
        assert values[13] == datetime.time(18, 36, 18, 500000), values
        assert values[14:16] == (INSTANT.replace(tzinfo=None), INSTANT), values
        assert values[16] == datetime.timedelta(days=365 + 60 + 3, seconds=4), values
        assert values[17:] == ([1, None, 3], {"a": 1, "b": 'x"y'}, "red", None), values
        assert nulls == (None,) * 21, nulls
    print("types")


def check_parameters(connection):
    values = [5, decimal.Decimal("12.50"), True, b"\x00\xff", datetime.date(2026, 11, 30), INSTANT, 'it\'s; "x" -- $1', None]
    echoed = [5, "12.50", True, b"\x00\xff", datetime.date(2026, 11, 30), INSTANT, 'it\'s; "x" -- $1', None]
    for placeholder in ("%s", "%b"):
        for value, expected in zip(values, echoed):
            row = connection.execute(f"select echo({placeholder})", (value,)).fetchone()
            assert row == (expected,), (value, row)
    print("parameters")


def check_named_cursor(connection):
    with connection.transaction():
        with connection.cursor("walk") as cursor:
            cursor.itersize = 300
            cursor.execute("select n from numbers where n < %s", (1000000,))
            assert [row[0] for row in cursor.fetchmany(700)] == list(range(700))
            assert cursor.fetchone() == (700,)
    print("named cursor")


def check_copy(connection):
    with connection.cursor().copy("COPY (select n from numbers(3)) TO STDOUT (FORMAT csv, HEADER)") as copy:
        assert b"".join(bytes(part) for part in copy) == b"n\n0\n1\n2\n"
    with connection.cursor().copy("COPY (select n from numbers(2500)) TO STDOUT (FORMAT binary)") as copy:
        copy.set_types(["int8"])
        assert [row[0] for row in copy.rows()] == list(range(2500))
    print("copy")


def check_cancel(connection):
    timer = threading.Timer(0.3, connection.cancel)
    timer.start()
    try:
        connection.execute("select stuck")
        raise AssertionError("a cancelled query gave an answer")
    except psycopg.errors.QueryCanceled as error:
        assert error.diag.message_primary == "query cancelled"
    print("cancel")


def check_transactions():
    with connect() as connection:
        assert connection.execute("select 1").fetchone() == (1,)
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        try:
            with connection.transaction():
                connection.execute("select * from missing")
        except psycopg.errors.UndefinedTable as error:
            assert error.diag.message_hint == "did you mean app_pg.public.customers?"
        assert connection.execute("select 1").fetchone() == (1,)
        connection.rollback()
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    print("transactions")


def check_pipeline(connection):
    with connection.pipeline():
        cursors = [connection.execute("select n from numbers where n < %s", (count,)) for count in range(1, 30)]
        assert [len(cursor.fetchall()) for cursor in cursors] == list(range(1, 30))
    for _ in range(12):
        assert connection.execute("select n from numbers where n < %s", (3,), prepare=True).fetchall() == [(0,), (1,), (2,)]
    print("pipeline")


with connect(autocommit=True) as main:
    main.execute("set timezone to 'UTC'")
    check_types(main)
    check_parameters(main)
    check_named_cursor(main)
    check_copy(main)
    check_cancel(main)
    check_transactions()
    check_pipeline(main)
