# SQLAlchemy against a real Weir: what its inspector finds, reflected tables, and questions made from them.
import decimal
import sys

import sqlalchemy as sa

PORT = sys.argv[1]
SCHEMA = "app_pg.public"


def engine(database):
    return sa.create_engine(f"postgresql+psycopg://local@127.0.0.1:{PORT}/{database}")


def inspects():
    inspector = sa.inspect(engine("weir"))
    schemas = inspector.get_schema_names()
    assert {"app_pg.public", "app_pg.Odd Schema", "billing_mysql.billing", "desk.main", "lake.web", "system"} <= set(schemas), schemas
    assert sorted(inspector.get_table_names(schema=SCHEMA)) == ["customers", "events"]
    assert inspector.get_view_names(schema=SCHEMA) == ["paying"]
    assert inspector.get_table_names(schema="lake.web") == ["visits"]
    assert inspector.has_table("customers", schema=SCHEMA)
    assert not inspector.has_table("costumers", schema=SCHEMA)
    columns = [(column["name"], repr(column["type"]), column["nullable"]) for column in inspector.get_columns("customers", schema=SCHEMA)]
    assert columns == [
        ("id", "INTEGER()", False),
        ("email", "TEXT()", False),
        ("plan", "TEXT()", True),
        ("balance", "NUMERIC(precision=12, scale=2)", True),
        ("signed_up", "TIMESTAMP(timezone=True)", True),
        ("tags", "ARRAY(TEXT())", True),
        ("note", "TEXT()", True),
    ], columns
    kinds = [repr(column["type"]) for column in inspector.get_columns("events", schema=SCHEMA)]
    assert kinds == ["BIGINT()", "INTEGER()", "TIMESTAMP()", "TEXT()", "BYTEA()", "BOOLEAN()", "DOUBLE_PRECISION(precision=53)", "DATE()"], kinds
    assert inspector.get_pk_constraint("customers", schema=SCHEMA)["constrained_columns"] == []
    assert inspector.get_foreign_keys("customers", schema=SCHEMA) == []
    assert inspector.get_indexes("customers", schema=SCHEMA) == []
    assert inspector.get_unique_constraints("customers", schema=SCHEMA) == []
    assert inspector.get_check_constraints("customers", schema=SCHEMA) == []
    assert inspector.get_table_comment("customers", schema=SCHEMA) == {"text": "everybody who ever signed up"}
    assert inspector.get_multi_columns(schema="desk.main")[("desk.main", "notes")][2]["name"] == "body"
    assert inspector.get_enums() == [] and inspector.get_sequence_names(schema=SCHEMA) == []
    print("inspects")


def reflects():
    door = engine("weir")
    metadata = sa.MetaData()
    customers = sa.Table("customers", metadata, autoload_with=door, schema=SCHEMA)
    payments = sa.Table("payments", metadata, autoload_with=door, schema="billing_mysql.billing")
    mixed = sa.Table("Mixed Case", metadata, autoload_with=door, schema="app_pg.Odd Schema")
    question = (
        sa.select(customers.c.email, sa.func.sum(payments.c.amount).label("paid"))
        .join(payments, payments.c.customer_id == customers.c.id)
        .where(customers.c.plan == "pro", payments.c.amount > decimal.Decimal("5"))
        .group_by(customers.c.email)
    )
    with door.connect() as connection:
        assert connection.execute(question).all() == [("ana@x.example", decimal.Decimal("19.99"))]
        assert connection.execute(sa.select(mixed.c["The Id"], mixed.c.select)).all() == [(7, "seven")]
        stream = connection.execution_options(yield_per=50).execute(sa.text('SELECT id FROM "app_pg.public".events ORDER BY id'))
        assert [row.id for row in stream] == list(range(1, 1001))
    print("reflects")


def walks_one_source():
    door = engine("app_pg")
    inspector = sa.inspect(door)
    assert inspector.default_schema_name == "public"
    assert sorted(inspector.get_table_names()) == ["Mixed Case", "customers", "events"]
    events = sa.Table("events", sa.MetaData(), autoload_with=door)
    with door.connect() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(events).where(events.c.seen)) == 500
    print("walks one source")


for check in (inspects, reflects, walks_one_source):
    check()
