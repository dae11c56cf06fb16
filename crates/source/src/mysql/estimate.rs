// SPDX-License-Identifier: Apache-2.0
//! The server's own forecast of a statement, out of `EXPLAIN FORMAT=JSON`, whose shape differs between MariaDB and MySQL.

use super::session::Product;
use crate::Estimate;
use serde_json::Value;

/// Rows and cost of an explained statement. `sql` ends in the row limit if it has one, which neither product counts in.
pub(super) fn estimate(explained: &str, sql: &str, product: Product) -> Option<Estimate> {
    let plan: Value = serde_json::from_str(explained).ok()?;
    let block = plan.get("query_block")?;
    let rows = rows_of(block, product).map(|rows| rows.ceil() as u64);
    let limit = limit_of(sql);
    let rows = match (rows, limit) {
        (Some(rows), Some(limit)) => Some(rows.min(limit)),
        (rows, limit) => rows.or(limit),
    };
    let cost = block.pointer("/cost_info/query_cost").or_else(|| block.get("cost")).and_then(number);
    Some(Estimate { rows, bytes: None, cost })
}

/// Rows that leave a node of the plan; `None` where the server does not say.
fn rows_of(node: &Value, product: Product) -> Option<f64> {
    if let Some(table) = node.get("table") {
        return rows_of_table(table, product);
    }
    if let Some(steps) = node.get("nested_loop").and_then(Value::as_array) {
        return rows_of_joined(steps, product);
    }
    if let Some(parts) = node.pointer("/union_result/query_specifications").and_then(Value::as_array) {
        return parts.iter().map(|part| rows_of(part.get("query_block")?, product)).sum();
    }
    const WRAPPERS: [&str; 9] = [
        "query_block",
        "filesort",
        "temporary_table",
        "read_sorted_file",
        "ordering_operation",
        "grouping_operation",
        "duplicates_removal",
        "windowing",
        "window_functions_computation",
    ];
    WRAPPERS.iter().filter_map(|wrapper| node.get(*wrapper)).find_map(|inner| rows_of(inner, product))
}

fn rows_of_joined(steps: &[Value], product: Product) -> Option<f64> {
    let mut rows = steps.iter().map(|step| rows_of(step.get("block-nl-join").unwrap_or(step), product));
    match product {
        // Each table says how many rows it adds to each row before it.
        Product::MariaDb => rows.product(),
        // Each table says how many rows there are once it is joined.
        Product::MySql => rows.next_back().flatten(),
    }
}

fn rows_of_table(table: &Value, product: Product) -> Option<f64> {
    if let Some(message) = table.get("message").and_then(Value::as_str) {
        let empty = message.starts_with("Impossible") || message.starts_with("no matching row") || message == "Zero limit";
        return Some(if empty { 0.0 } else { 1.0 });
    }
    if product == Product::MySql {
        return table.get("rows_produced_per_join").and_then(number);
    }
    let filtered = table.get("filtered").and_then(number).unwrap_or(100.0);
    Some(table.get("rows").and_then(number)? * filtered / 100.0)
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn limit_of(sql: &str) -> Option<u64> {
    let mut words = sql.trim_end_matches([';', ' ', '\n']).rsplit(char::is_whitespace);
    let rows = words.next()?.parse().ok()?;
    words.next()?.eq_ignore_ascii_case("limit").then_some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(explained: &str, sql: &str, product: Product) -> Option<u64> {
        estimate(explained, sql, product).and_then(|estimate| estimate.rows)
    }

    #[test]
    fn mariadb() {
        let one = r#"{"query_block":{"select_id":1,"nested_loop":[{"table":{"table_name":"t","rows":200,"filtered":25}}]}}"#;
        assert_eq!(rows(one, "SELECT 1", Product::MariaDb), Some(50));
        assert_eq!(rows(one, "SELECT 1 LIMIT 10", Product::MariaDb), Some(10));
        let sorted = r#"{"query_block":{"read_sorted_file":{"filesort":{"table":{"rows":7,"filtered":100}}}}}"#;
        assert_eq!(rows(sorted, "SELECT 1", Product::MariaDb), Some(7));
        let join = r#"{"query_block":{"nested_loop":[{"table":{"rows":10,"filtered":100}},{"block-nl-join":{"table":{"rows":3,"filtered":50}}}]}}"#;
        assert_eq!(rows(join, "SELECT 1", Product::MariaDb), Some(15));
        let none = r#"{"query_block":{"table":{"message":"Impossible WHERE"}}}"#;
        assert_eq!(rows(none, "SELECT 1", Product::MariaDb), Some(0));
    }

    #[test]
    fn mysql() {
        let text = r#"{"query_block":{"cost_info":{"query_cost":"12.50"},"ordering_operation":{"nested_loop":[
            {"table":{"rows_produced_per_join":10}},{"table":{"rows_produced_per_join":40}}]}}}"#;
        let estimate = estimate(text, "SELECT 1", Product::MySql).unwrap();
        assert_eq!((estimate.rows, estimate.cost), (Some(40), Some(12.5)));
    }
}
