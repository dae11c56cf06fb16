# psycopg against a real Weir: types, parameters, cursors, COPY, transactions, cancel, prepared statements, notices, errors.
import datetime
import decimal
import json
import sys
import threading
import uuid

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


def lists():
    """Python lists as array parameters, in text and in binary, described before they are sent."""
    customers = "SELECT id FROM app_pg.public.customers WHERE "
    nothing = "SELECT %s"
    asked = [
        (customers + "id = ANY(%s) ORDER BY id", [1, 3, 99, None], [(1,), (3,)]),
        (customers + "id <> ALL(%s) ORDER BY id", [1, 3], [(2,)]),
        (customers + "id <> ALL(%s)", [1, None], []),
        (customers + "id = ANY(%s)", [], []),
        (customers + "id <> ALL(%s) ORDER BY id", [], [(1,), (2,), (3,)]),
        (customers + "id = ANY(%s)", None, []),
        (customers + "plan = ANY(%s) ORDER BY id", ["pro", "free"], [(1,), (2,)]),
        (customers + "note = ANY(%s) ORDER BY id", ["first", 'a,"b\\', "it's; \"quoted\""], [(1,), (3,)]),
        (customers + "email LIKE ANY(%s) ORDER BY id", ["ana%", "cy%"], [(1,), (3,)]),
        (customers + "balance > ANY(%s)", [D("1000.00"), D("5000")], [(1,)]),
        (customers + "balance < ALL(%s)", [D("1000.00"), D("5000")], [(2,)]),
        (customers + "signed_up = ANY(%s)", [datetime.datetime(2026, 11, 1, 10, 0, tzinfo=UTC)], [(1,)]),
        (customers + "id = ANY(%s::int[])", [2], [(2,)]),
        ("SELECT id FROM app_pg.public.events WHERE day = ANY(%s) AND id < 9", [datetime.date(2026, 11, 4)], [(3,)]),
        ("SELECT id FROM billing_mysql.billing.payments WHERE amount = ANY(%s)", [D("19.99")], [(D(18446744073709551615),)]),
        ("SELECT uid = ANY(%s) FROM (VALUES ('00000000-0000-0000-0000-00000000000a')) AS t(uid)", [uuid.UUID(int=10)], [(True,)]),
        ("SELECT NULL = ANY(%s)", ["a"], [(None,)]),
        (nothing, [7, None], [([7, None],)]),
        ("SELECT %s::text[]", ["a b", 'q"'], [(["a b", 'q"'],)]),
        ("SELECT cardinality(%s::int[])", [1, 2, 3], [(3,)]),
        ("SELECT unnest(%s::text[])", ["x", "y"], [("x",), ("y",)]),
        ("SELECT unnest(%s)", [7, 8], [(7,), (8,)]),
        ("SELECT * FROM unnest(%s) AS t(n) WHERE n > 7", [7, 8], [(8,)]),
        (customers + "id IN (SELECT unnest(%s)) ORDER BY id", [1, 3, 99], [(1,), (3,)]),
        (customers + "id NOT IN (SELECT unnest(%s::int[])) ORDER BY id", [1, 3], [(2,)]),
        (customers + "id IN (SELECT n FROM unnest(%s) AS t(n) WHERE n < 3) ORDER BY id", [1, 2, 3], [(1,), (2,)]),
        (customers + "id IN (SELECT unnest(%s))", [], []),
        (customers + "id NOT IN (SELECT unnest(%s)) ORDER BY id", None, [(1,), (2,), (3,)]),
        (customers + "note IN (SELECT unnest(%s)) ORDER BY id", ["first"], [(1,)]),
        (customers + "balance IN (SELECT unnest(%s))", [D("-0.01")], [(2,)]),
    ]
    with psycopg.connect(DSN, autocommit=True) as connection:
        for statement, value, expected in asked:
            for placeholder in ("%s", "%t", "%b"):
                for prepare in (False, True):
                    rows = connection.execute(statement.replace("%s", placeholder), (value,), prepare=prepare).fetchall()
                    assert rows == expected, (statement, placeholder, rows)
        wire = connection.pgconn
        wire.prepare(b"told", b"SELECT 1 FROM app_pg.public.customers WHERE id = ANY($1) AND plan <> ALL($2) AND balance > ANY($3::numeric[]) AND id < $4::bigint")
        told = wire.describe_prepared(b"told")
        assert [told.param_type(index) for index in range(told.nparams)] == [1007, 1009, 1231, 20]
        for wrong, code in (("{1,2", "22P02"), ("1,2", "22P02"), ("{{1},{2}}", "0A000")):
            try:
                connection.execute("SELECT 1 = ANY(%s)", (wrong,))
                raise AssertionError(wrong)
            except psycopg.Error as error:
                assert error.sqlstate == code, error
        # What a list asks is asked of the source.
        plan = "\n".join(row[0] for row in connection.execute("EXPLAIN " + customers + "id = ANY(ARRAY[1, 3])").fetchall())
        assert "pushed filter" in plan and "kept" not in plan, plan
    print("lists")


def intervals():
    """A timedelta, in text and in binary, wherever an interval may stand."""
    span = datetime.timedelta(days=1, hours=2, microseconds=5)
    with psycopg.connect(DSN, autocommit=True) as connection:
        for form in ("%b", "%t"):
            for sql, expected in [
                (f"SELECT {form}", span),
                (f"SELECT {form}::text", "1 day 02:00:00.000005"),
                (f"SELECT timestamp '2026-11-30 12:00' + {form}", datetime.datetime(2026, 12, 1, 14, 0, 0, 5)),
                (f"SELECT timestamptz '2026-11-30 12:00Z' - {form}", datetime.datetime(2026, 11, 29, 9, 59, 59, 999995, tzinfo=UTC)),
                (f"SELECT {form} = interval '1 day 02:00:00.000005'", True),
                (f"SELECT {form} * 2", datetime.timedelta(days=2, hours=4, microseconds=10)),
                (f"SELECT count(*) FROM app_pg.public.events WHERE at < timestamp '2026-11-01' + {form}", 1000),
                (f"SELECT count(*) FROM app_pg.public.customers WHERE signed_up > timestamptz '2026-11-03 00:00Z' - {form}", 1),
            ]:
                found = connection.execute(sql, [span]).fetchone()[0]
                assert found == expected, (sql, found)
        spans = [span, -span]
        assert connection.execute("SELECT %b", [spans]).fetchone()[0] == spans
        assert [row[0] for row in connection.execute("SELECT unnest(%b)", [spans])] == spans
    print("intervals")


def sessions():
    """What a session knows of itself and may do to the others of its user."""
    with psycopg.connect(DSN, autocommit=True) as one, psycopg.connect(DSN, autocommit=True, application_name="reports") as two:
        number = two.execute("SELECT pg_backend_pid()").fetchone()[0]
        assert number == two.info.backend_pid and number != one.info.backend_pid
        ended = []

        def ask():
            try:
                two.execute('SELECT slept FROM app_pg."Odd Schema".nap')
            except psycopg.Error as error:
                ended.append(error.sqlstate)

        asking = threading.Thread(target=ask)
        asking.start()
        running = "SELECT application_name, usename, query FROM pg_stat_activity WHERE pid = %s"
        while not (rows := one.execute(running, (number,)).fetchall()):
            assert asking.is_alive()
        assert rows == [("reports", "local", 'SELECT slept FROM app_pg."Odd Schema".nap')], rows
        assert one.execute("SELECT pg_cancel_backend(%s)", (number,)).fetchone() == (True,)
        asking.join()
        assert ended == ["57014"], ended
        assert one.execute("SELECT pg_cancel_backend(%s), pg_cancel_backend(pg_backend_pid())", (number,)).fetchone() == (False, False)

        assert one.execute("SELECT set_config('TimeZone', 'Asia/Kolkata', false), current_setting('timezone')").fetchone() == ("Asia/Kolkata",) * 2
        assert one.execute("SHOW timezone").fetchone() == ("Asia/Kolkata",)
        with one.transaction():
            one.execute("SET LOCAL timezone = 'Asia/Tokyo'")
            one.execute("SELECT set_config('weir.pushdown', 'off', true)")
            assert one.execute("SELECT current_setting('timezone'), current_setting('weir.pushdown')").fetchone() == ("Asia/Tokyo", "off")
        assert one.execute("SELECT current_setting('timezone'), current_setting('weir.pushdown')").fetchone() == ("Asia/Kolkata", "on")
        assert one.execute("SELECT set_config('timezone', NULL, false), current_setting('no.such', true)").fetchone() == ("UTC", None)
        listed = {row[0]: row[1] for row in one.execute("SHOW ALL").fetchall()}
        assert (listed["timezone"], listed["server_version"], listed["transaction_read_only"]) == ("UTC", "15.0", "off")
        refused = [
            ("SELECT set_config('timezone', 'Nope/Zone', false)", "22023"),
            ("SELECT set_config('no.such', '1', false)", "42704"),
            ("SELECT current_setting('no.such')", "42704"),
            ("SET extra_float_digits = 99", "22023"),
            ("SET lock_timeout = 'soon'", "22023"),
            ("SET client_encoding = 'LATIN1'", "0A000"),
            ("SELECT pg_terminate_backend(1)", "0A000"),
            ("SELECT 'no_such'::regclass", "42P01"),
            ("SELECT 'no_such'::regclass::oid", "42P01"),
        ]
        for statement, code in refused:
            try:
                one.execute(statement)
                raise AssertionError(statement)
            except psycopg.Error as error:
                assert error.sqlstate == code, (statement, error)
        assert one.execute("SHOW timezone").fetchone() == ("UTC",)
    print("sessions")


for check in (types, parameters, prepared, cursors, copies, transactions, cancels, notices, lists, intervals, sessions):
    check()
