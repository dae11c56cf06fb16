// SPDX-License-Identifier: Apache-2.0
// Asks a Weir (the canned one of the tests) through JDBC: types, server-prepared statements, fetch size, cancel, errors.

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.Properties;

public class JdbcClient {
    static void check(boolean holds, Object seen) {
        if (!holds) throw new AssertionError("unexpected: " + seen);
    }

    public static void main(String[] arguments) throws Exception {
        Properties options = new Properties();
        options.setProperty("user", "ana");
        options.setProperty("binaryTransfer", "true");
        options.setProperty("prepareThreshold", "2");
        try (Connection connection = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + arguments[0] + "/lake", options)) {
            System.out.println(connection.getMetaData().getDatabaseProductName() + " " + connection.getMetaData().getDatabaseProductVersion());
            types(connection);
            prepared(connection);
            fetchSize(connection);
            cancel(connection);
            errors(connection);
        }
    }

    /** Repeated, so that the driver switches to named statements and binary results. */
    static void types(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("select * from every_type")) {
            for (int round = 0; round < 5; round++) {
                try (ResultSet rows = statement.executeQuery()) {
                    check(rows.next(), "no row");
                    check(rows.getBoolean(1), rows.getString(1));
                    check(rows.getShort(3) == Short.MIN_VALUE, rows.getString(3));
                    check(rows.getInt(4) == Integer.MAX_VALUE, rows.getString(4));
                    check(rows.getLong(5) == Long.MIN_VALUE, rows.getString(5));
                    check(rows.getBigDecimal(7).toPlainString().equals("18446744073709551615"), rows.getString(7));
                    check(rows.getFloat(8) == 0.1f, rows.getString(8));
                    check(rows.getDouble(9) == Double.NEGATIVE_INFINITY, rows.getString(9));
                    check(rows.getBigDecimal(10).equals(new BigDecimal("-123456789012.3450")), rows.getString(10));
                    check(rows.getString(11).equals("na\u00efve \\ \t, \"q\""), rows.getString(11));
                    check(Arrays.equals(rows.getBytes(12), new byte[] {0, 1, (byte) 255}), rows.getString(12));
                    check(rows.getObject(13, LocalDate.class).equals(LocalDate.of(2026, 11, 30)), rows.getString(13));
                    check(rows.getTimestamp(15).equals(Timestamp.valueOf("2026-11-30 18:36:18.123456")), rows.getString(15));
                    check(rows.getObject(16, OffsetDateTime.class).toInstant().toString().equals("2026-11-30T18:36:18.123456Z"), rows.getString(16));
                    check(Arrays.equals((Integer[]) rows.getArray(18).getArray(), new Integer[] {1, null, 3}), rows.getString(18));
                    check(rows.next() && rows.getString(11) == null && rows.getObject(10) == null, "nulls");
                    check(!rows.next(), "too many rows");
                }
            }
        }
        System.out.println("types");
    }

    static void prepared(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("select n from numbers where n < ?")) {
            for (int count = 0; count < 8; count++) {
                statement.setLong(1, count);
                int seen = 0;
                try (ResultSet rows = statement.executeQuery()) {
                    while (rows.next()) check(rows.getLong(1) == seen++, seen);
                }
                check(seen == count, seen);
            }
        }
        try (PreparedStatement statement = connection.prepareStatement("insert into lake.a.b select 1")) {
            check(statement.executeUpdate() == 3, "rows inserted");
        }
        System.out.println("prepared");
    }

    static void fetchSize(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(50);
            try (ResultSet rows = statement.executeQuery("select n from numbers(1000000)")) {
                for (int index = 0; index < 5000; index++) check(rows.next() && rows.getLong(1) == index, index);
            }
        }
        connection.commit();
        connection.setAutoCommit(true);
        System.out.println("fetch size");
    }

    static void cancel(Connection connection) throws Exception {
        try (Statement statement = connection.createStatement()) {
            Thread canceller = new Thread(() -> {
                try {
                    Thread.sleep(300);
                    statement.cancel();
                } catch (Exception failed) {
                    throw new AssertionError(failed);
                }
            });
            canceller.start();
            statement.executeQuery("select stuck");
            throw new AssertionError("a cancelled query gave an answer");
        } catch (SQLException error) {
            check(error.getSQLState().equals("57014"), error);
        }
        System.out.println("cancel");
    }

    static void errors(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery("select * from missing");
            throw new AssertionError("a missing table gave an answer");
        } catch (SQLException error) {
            check(error.getSQLState().equals("42P01") && error.getMessage().contains("did you mean app_pg.public.customers?"), error);
        }
        check(connection.isValid(5), "not valid");
        System.out.println("errors");
    }
}
