// Asks each text through JDBC and prints its rows as psql would, or the code of its error.
import java.sql.*;

public class JdbcRows {
    public static void main(String[] arguments) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + arguments[0] + "/weir", "local", "")) {
            for (int index = 1; index < arguments.length; index++) {
                try (PreparedStatement statement = connection.prepareStatement(arguments[index])) {
                    ResultSet rows = statement.executeQuery();
                    int columns = rows.getMetaData().getColumnCount();
                    while (rows.next()) {
                        StringBuilder line = new StringBuilder();
                        for (int column = 1; column <= columns; column++) {
                            String cell = rows.getString(column);
                            line.append(column == 1 ? "" : "|").append(cell == null ? "" : cell);
                        }
                        System.out.println(line);
                    }
                } catch (SQLException error) {
                    System.out.println(error.getSQLState());
                }
                System.out.println("----");
            }
        }
    }
}
