# psycopg against a real Weir: types, parameters, cursors, COPY, transactions, cancel, prepared statements, notices, errors.
import datetime
import decimal
import json
import sys
import threading

import psycopg

PORT = sys.argv[1]
DSN = f"host=127.0.0.1 port={PORT} user=local dbname=weir"
D = decimal.Decimal
UTC = datetime.timezone.utc

CUSTOMERS = [
    (1, "ana@x.example", "pro", D("1204.50"), datetime.datetime(2026, 11, 1, 10, 0, tzinfo=UTC), ["a", "b"], "first"),
    (2, "bo@x.example", "free", D("-0.01"), datetime.datetime(2026, 11, 2, 11, 30, 0, 123456, tzinfo=UTC), [], None),
    (3, "cy@x.example", None, None, None, None, "it's; \"quoted\""),
]


def types():
    with psycopg.connect(DSN) as connection:
        for binary in (False, True):
            cursor = connection.cursor(binary=binary)
            cursor.execute("SELECT id, email, plan, balance, signed_up, tags, note FROM app_pg.public.customers ORDER BY id")
            assert cursor.fetchall() == CUSTOMERS, binary
            oids = [column.type_code for column in cursor.description]
            assert oids == [23, 25, 25, 1700, 1184, 1009, 25], oids
            assert (cursor.description[3].precision, cursor.description[3].scale) == (12, 2)
            cursor.execute("SELECT id, at, kind, payload, seen, ratio, day FROM app_pg.public.events WHERE id = 3")
            assert cursor.fetchone() == (3, datetime.datetime(2026, 11, 1, 0, 3), "k3", b"\x00\xff", False, 0.75, datetime.date(2026, 11, 4))
            cursor.execute("SELECT id, amount, paid, at FROM billing_mysql.billing.payments ORDER BY id DESC LIMIT 1")
            assert cursor.fetchone() == (D(18446744073709551615), D("19.99"), 1, datetime.datetime(2026, 11, 3, 8, 0))
    print("types")


def parameters():
    asked = [
        ("SELECT id FROM app_pg.public.customers WHERE id = %s", 2, [(2,)]),
        ("SELECT id FROM app_pg.public.customers WHERE email = %s", "ana@x.example", [(1,)]),
        ("SELECT id FROM app_pg.public.customers WHERE note = %s", "it's; \"quoted\"", [(3,)]),
        ("SELECT id FROM app_pg.public.customers WHERE balance > %s ORDER BY id", D("-0.02"), [(1,), (2,)]),
        ("SELECT id FROM app_pg.public.customers WHERE signed_up = %s", CUSTOMERS[1][4], [(2,)]),
        ("SELECT count(*) FROM app_pg.public.events WHERE seen = %s", True, [(500,)]),
        ("SELECT count(*) FROM app_pg.public.events WHERE ratio < %s", 1.0, [(3,)]),
        ("SELECT count(*) FROM app_pg.public.events WHERE day = %s", datetime.date(2026, 11, 1), [(142,)]),
        ("SELECT count(*) FROM app_pg.public.events WHERE at < %s", datetime.datetime(2026, 11, 1, 0, 11), [(10,)]),
        ("SELECT count(*) FROM app_pg.public.events WHERE payload = %s", b"\x00\xff", [(1000,)]),
        ("SELECT count(*) FROM app_pg.public.customers WHERE note = %s", None, [(0,)]),
        ("SELECT count(*) FROM lake.web.visits WHERE id <= %s", 10, [(10,)]),
        ("SELECT body FROM desk.main.notes WHERE id = %s", 2, [("wrote",)]),
    ]
    with psycopg.connect(DSN) as connection:
        for way in ("%s", "%t", "%b"):
            for sql, value, expected in asked:
                rows = connection.execute(sql.replace("%s", way), (value,)).fetchall()
                assert rows == expected, (way, sql, rows)
    print("parameters")


def prepared():
    with psycopg.connect(DSN, prepare_threshold=1) as connection:
        for number in range(10):
            row = connection.execute("SELECT id, kind FROM app_pg.public.events WHERE id = %s", (number + 1,), prepare=True).fetchone()
            assert row == (number + 1, f"k{(number + 1) % 5}"), row
        names = connection.execute("SELECT count(*) FROM app_pg.public.customers").fetchone()
        assert names == (3,)
    print("prepared")


def cursors():
    with psycopg.connect(DSN) as connection:
        with connection.cursor("reader") as cursor:
            cursor.itersize = 100
            cursor.execute("SELECT id FROM app_pg.public.events ORDER BY id")
            assert [row[0] for row in cursor] == list(range(1, 1001))
        with connection.cursor("few") as cursor:
            cursor.execute("SELECT id FROM app_pg.public.events ORDER BY id")
            assert [row[0] for row in cursor.fetchmany(3)] == [1, 2, 3]
            assert cursor.fetchone() == (4,)
    print("cursors")


def copies():
    with psycopg.connect(DSN) as connection, connection.cursor() as cursor:
        with cursor.copy("COPY (SELECT id, email, balance FROM app_pg.public.customers ORDER BY id) TO STDOUT (FORMAT csv, HEADER)") as copy:
            text = b"".join(bytes(block) for block in copy).decode()
        assert text == "id,email,balance\n1,ana@x.example,1204.50\n2,bo@x.example,-0.01\n3,cy@x.example,\n", text
        with cursor.copy("COPY (SELECT id, kind FROM app_pg.public.events WHERE id < 3 ORDER BY id) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["int8", "text"])
            assert list(copy.rows()) == [(1, "k1"), (2, "k2")]
    print("copies")


def transactions():
    with psycopg.connect(DSN) as connection:
        connection.execute("SELECT 1")
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        try:
            connection.execute("SELECT * FROM app_pg.public.costumers")
            raise AssertionError("an unknown table was read")
        except psycopg.errors.UndefinedTable as error:
            assert error.diag.sqlstate == "42P01"
            assert error.diag.message_hint.startswith("did you mean app_pg.public.customers"), error.diag.message_hint
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INERROR
        try:
            connection.execute("SELECT 1")
            raise AssertionError("a failed transaction went on")
        except psycopg.errors.InFailedSqlTransaction:
            connection.rollback()
        with connection.transaction():
            assert connection.execute("SELECT count(*) FROM desk.main.notes").fetchone() == (2,)
        try:
            with connection.transaction():
                connection.execute("INSERT INTO app_pg.public.customers (id, email) VALUES (9, 'x')")
            raise AssertionError("a source was written to")
        except psycopg.errors.ReadOnlySqlTransaction as error:
            assert error.diag.sqlstate == "25006"
        connection.rollback()
    print("transactions")


def cancels():
    with psycopg.connect(DSN) as connection:
        answered = threading.Event()

        def press():
            # A request that comes before the query has begun means nothing, so it is made until it is heeded.
            while not answered.wait(0.1):
                connection.cancel()

        threading.Thread(target=press).start()
        try:
            connection.execute('SELECT slept FROM app_pg."Odd Schema".nap')
            raise AssertionError("a cancelled query answered")
        except psycopg.errors.QueryCanceled as error:
            assert (error.diag.sqlstate, error.diag.message_primary) == ("57014", "query cancelled"), error
        finally:
            answered.set()
        connection.rollback()
        assert connection.execute("SELECT 1 + 1").fetchone() == (2,)
    print("cancels")


def notices():
    told = []
    with psycopg.connect(DSN, autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: told.append((notice.severity, notice.message_primary, notice.message_detail)))
        connection.execute("SET weir.receipt = on")
        connection.execute("SELECT count(*) FROM app_pg.public.customers c JOIN billing_mysql.billing.payments p ON p.customer_id = c.id")
        severity, message, detail = told[-1]
        receipt = json.loads(detail)
        assert (severity, message.startswith("as of ")) == ("NOTICE", True), message
        assert [table["table"] for table in receipt["tables"]] == ["app_pg.public.customers", "billing_mysql.billing.payments"]
    print("notices")


for check in (types, parameters, prepared, cursors, copies, transactions, cancels, notices):
    check()
