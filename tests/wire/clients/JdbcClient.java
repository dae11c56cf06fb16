// JDBC against a real Weir: metadata, prepared statements, streaming with a fetch size, cancel and timeout.
import java.math.BigDecimal;
import java.sql.*;
import java.util.*;
import java.util.concurrent.*;
import org.postgresql.util.PGInterval;

public class JdbcClient {
    // The source takes an hour for it, unless it is cancelled there.
    static final String SLOW = "SELECT slept FROM app_pg.\"Odd Schema\".nap";

    static String url;

    public static void main(String[] arguments) throws Exception {
        url = "jdbc:postgresql://127.0.0.1:" + arguments[0] + "/";
        metadata();
        prepared();
        lists();
        intervals();
        streams();
        cancels();
    }

    static Connection connect(String database) throws SQLException {
        return DriverManager.getConnection(url + database, "local", "");
    }

    static void same(Object found, Object expected) {
        if (!Objects.equals(found, expected)) {
            throw new AssertionError("found " + found + ", expected " + expected);
        }
    }

    static List<String> column(ResultSet rows, String... names) throws SQLException {
        List<String> found = new ArrayList<>();
        while (rows.next()) {
            StringJoiner row = new StringJoiner(" ");
            for (String name : names) {
                row.add(rows.getString(name));
            }
            found.add(row.toString());
        }
        return found;
    }

    static void metadata() throws SQLException {
        try (Connection connection = connect("weir")) {
            DatabaseMetaData data = connection.getMetaData();
            same(data.getDatabaseProductName() + " " + data.getDatabaseMajorVersion(), "PostgreSQL 15");
            List<String> catalogs = column(data.getCatalogs(), "TABLE_CAT");
            if (!catalogs.contains("weir")) {
                throw new AssertionError("catalogs " + catalogs);
            }
            List<String> schemas = column(data.getSchemas(), "TABLE_SCHEM");
            if (!schemas.containsAll(List.of("app_pg.public", "billing_mysql.billing", "desk.main", "lake.web", "pg_catalog"))) {
                throw new AssertionError("schemas " + schemas);
            }
            same(column(data.getTables(null, "app_pg.public", "%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME", "TABLE_TYPE"),
                List.of("customers TABLE", "events TABLE", "paying VIEW"));
            same(column(data.getTables(null, "app_pg.public", "cust%", null), "TABLE_NAME", "REMARKS"), List.of("customers everybody who ever signed up"));
            same(column(data.getColumns(null, "app_pg.public", "customers", "%"), "COLUMN_NAME", "TYPE_NAME", "DATA_TYPE", "COLUMN_SIZE", "DECIMAL_DIGITS", "IS_NULLABLE"),
                List.of("id int4 4 10 0 NO", "email text 12 2147483647 0 NO", "plan text 12 2147483647 0 YES", "balance numeric 2 12 2 YES",
                    "signed_up timestamptz 93 35 6 YES", "tags _text 2003 2147483647 0 YES", "note text 12 2147483647 0 YES"));
            same(column(data.getPrimaryKeys(null, "app_pg.public", "customers"), "COLUMN_NAME"), List.of());
            same(column(data.getImportedKeys(null, "app_pg.public", "customers"), "PKTABLE_NAME"), List.of());
            same(column(data.getIndexInfo(null, "app_pg.public", "customers", false, false), "INDEX_NAME"), List.of());
            same(column(data.getTypeInfo(), "TYPE_NAME").contains("int4"), true);
            same(column(data.getFunctions(null, "app_pg.public", "%"), "FUNCTION_NAME"), List.of());
            same(column(data.getProcedures(null, "app_pg.public", "%"), "PROCEDURE_NAME"), List.of());
            column(data.getTablePrivileges(null, "app_pg.public", "customers"), "PRIVILEGE");
            same(column(data.getExportedKeys(null, "app_pg.public", "customers"), "FKTABLE_NAME"), List.of());
            same(column(data.getCrossReference(null, "app_pg.public", "customers", null, "app_pg.public", "events"), "FKTABLE_NAME"), List.of());
            same(column(data.getBestRowIdentifier(null, "app_pg.public", "customers", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"), List.of());
            column(data.getVersionColumns(null, "app_pg.public", "customers"), "COLUMN_NAME");
            column(data.getColumnPrivileges(null, "app_pg.public", "customers", "%"), "PRIVILEGE");
            same(column(data.getTableTypes(), "TABLE_TYPE").contains("MATERIALIZED VIEW"), true);
            same(column(data.getFunctionColumns(null, "app_pg.public", "%", "%"), "COLUMN_NAME"), List.of());
            same(column(data.getProcedureColumns(null, "app_pg.public", "%", "%"), "COLUMN_NAME"), List.of());
            same(column(data.getUDTs(null, "app_pg.public", "%", null), "TYPE_NAME"), List.of());
            same(column(data.getClientInfoProperties(), "NAME").contains("ApplicationName"), true);
            same(data.getSQLKeywords().isEmpty(), false);
            same(data.getMaxColumnNameLength(), 63);
        }
        try (Connection connection = connect("app_pg")) {
            same(connection.getSchema(), "public");
            same(connection.getCatalog(), "app_pg");
        }
        System.out.println("metadata");
    }

    static void prepared() throws SQLException {
        try (Connection connection = connect("weir");
            PreparedStatement statement = connection.prepareStatement(
                "SELECT id, balance, signed_up, email FROM app_pg.public.customers WHERE id = ? AND balance > ? AND signed_up >= ? AND email LIKE ?")) {
            // After five runs the driver goes over to binary results and named statements.
            for (int run = 0; run < 10; run++) {
                statement.setInt(1, 1);
                statement.setBigDecimal(2, new BigDecimal("1204.49"));
                statement.setTimestamp(3, Timestamp.from(java.time.Instant.parse("2026-11-01T10:00:00Z")));
                statement.setString(4, "ana%");
                try (ResultSet rows = statement.executeQuery()) {
                    same(rows.next(), true);
                    same(rows.getInt(1), 1);
                    same(rows.getBigDecimal(2), new BigDecimal("1204.50"));
                    same(rows.getTimestamp(3).toInstant(), java.time.Instant.parse("2026-11-01T10:00:00Z"));
                    same(rows.getString("email"), "ana@x.example");
                    same(rows.next(), false);
                }
            }
            try (PreparedStatement more = connection.prepareStatement("SELECT count(*) FROM app_pg.public.events WHERE seen = ? AND day = ? AND ratio < ? AND id > ?")) {
                more.setBoolean(1, true);
                more.setObject(2, java.time.LocalDate.of(2026, 11, 3));
                more.setDouble(3, 100);
                more.setLong(4, 2);
                ResultSet rows = more.executeQuery();
                rows.next();
                same(rows.getLong(1), 28L);
            }
        }
        System.out.println("prepared");
    }

    static void lists() throws SQLException {
        try (Connection connection = connect("weir");
            PreparedStatement statement = connection.prepareStatement(
                "SELECT id FROM app_pg.public.customers WHERE id = ANY(?) AND (note = ANY(?) OR email <> ALL(?)) ORDER BY id")) {
            for (int run = 0; run < 10; run++) {
                statement.setArray(1, connection.createArrayOf("int4", new Integer[] {1, 2, 99, null}));
                statement.setArray(2, connection.createArrayOf("text", new String[] {"first", "a,\"b"}));
                statement.setArray(3, connection.createArrayOf("varchar", new String[] {"ana@x.example", "cy@x.example"}));
                try (ResultSet rows = statement.executeQuery()) {
                    same(column(rows, "id"), List.of("1", "2"));
                }
            }
        }
        System.out.println("lists");
    }

    static void intervals() throws SQLException {
        try (Connection connection = connect("weir");
            PreparedStatement statement = connection.prepareStatement("SELECT timestamp '2026-11-30 12:00' + ?, ?::interval = interval '1 year 2 mons 3 days 04:05:06.789'")) {
            for (int run = 0; run < 10; run++) {
                PGInterval span = new PGInterval(1, 2, 3, 4, 5, 6.789);
                statement.setObject(1, span);
                statement.setObject(2, span);
                try (ResultSet rows = statement.executeQuery()) {
                    rows.next();
                    same(rows.getString(1), "2028-02-02 16:05:06.789");
                    same(rows.getBoolean(2), true);
                }
            }
        }
        System.out.println("intervals");
    }

    static void streams() throws SQLException {
        try (Connection connection = connect("weir")) {
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.setFetchSize(50);
                ResultSet rows = statement.executeQuery("SELECT id FROM app_pg.public.events ORDER BY id");
                long expected = 1;
                while (rows.next()) {
                    same(rows.getLong(1), expected++);
                }
                same(expected, 1001L);
            }
            connection.commit();
        }
        System.out.println("streams");
    }

    static void cancels() throws Exception {
        try (Connection connection = connect("weir"); Statement statement = connection.createStatement()) {
            ScheduledExecutorService other = Executors.newSingleThreadScheduledExecutor();
            ScheduledFuture<?> cancel = other.scheduleAtFixedRate(() -> {
                try {
                    statement.cancel();
                } catch (SQLException ignored) {
                    // Nothing runs yet, or nothing any more.
                }
            }, 100, 100, TimeUnit.MILLISECONDS);
            try {
                statement.executeQuery(SLOW);
                throw new AssertionError("a cancelled query answered");
            } catch (SQLException error) {
                same(error.getSQLState(), "57014");
            }
            cancel.cancel(false);
            other.shutdown();
            same(other.awaitTermination(10, TimeUnit.SECONDS), true);
        }
        try (Connection connection = connect("weir"); Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(1);
            try {
                statement.executeQuery(SLOW);
                throw new AssertionError("a query ran beyond its time");
            } catch (SQLException error) {
                same(error.getSQLState(), "57014");
            }
            statement.setQueryTimeout(0);
            ResultSet rows = statement.executeQuery("SELECT 2");
            rows.next();
            same(rows.getInt(1), 2);
        }
        System.out.println("cancels");
    }
}
