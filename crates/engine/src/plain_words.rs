// SPDX-License-Identifier: Apache-2.0
//! EXPLAIN without the words of the planner: operators in the place of the functions that check them, subqueries without their made-up
//! names, and each condition once, also where it is asked again in front of one that can fail.

/// The text as whoever asked would have written it.
pub(crate) fn plainly(text: &str) -> String {
    let text = without_names(text);
    let text = with_operators(&text);
    conditions_once(&text)
}

/// The same with numbers and types as they are written in SQL, for whoever does not read plans: `CAST(k AS BIGINT) + 1`.
pub(crate) fn in_sql(text: &str) -> String {
    const TYPES: [(&str, &str); 7] = [
        ("UInt64", "NUMERIC"),
        ("UInt32", "BIGINT"),
        ("Int64", "BIGINT"),
        ("Int32", "INTEGER"),
        ("Int16", "SMALLINT"),
        ("Float64", "DOUBLE PRECISION"),
        ("Utf8", "TEXT"),
    ];
    let mut text = plainly(text);
    for (arrow, sql) in TYPES {
        text = text.replace(&format!(" AS {arrow})"), &format!(" AS {sql})"));
        let literal = format!("{arrow}(");
        while let Some((before, after)) = text.split_once(&literal) {
            let Some((value, rest)) = after.split_once(')') else { break };
            text = format!("{before}{value}{rest}");
        }
    }
    text
}

/// `__correlated_sq_1.t_id` is a column of a subquery; `a (table)` and `a (output)` are called `a`.
fn without_names(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) =
        ["__correlated_sq_", "__scalar_sq_"].iter().filter_map(|word| rest.split_once(word)).min_by_key(|(before, _)| before.len())
    {
        out.push_str(before);
        out.push_str("subquery");
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    // The planner knows too much of a function of the usual name (`functions::ROW_NUMBER`).
    (out + rest).replace(" (table)", "").replace(" (output)", "").replace("row number(", "row_number(")
}

/// `checked_add(a, b)` is `(a + b)`.
fn with_operators(text: &str) -> String {
    const WORDS: [(&str, &str); 4] = [("checked_add", "+"), ("checked_subtract", "-"), ("checked_multiply", "*"), ("checked_divide", "/")];
    let mut text = text.to_owned();
    // From the last to the first, so that what is inside is written already.
    while let Some(start) = text.rfind("checked_") {
        let Some(open) = text[start..].find('(').map(|at| start + at) else { break };
        let Some(close) = closing(&text, open) else { break };
        let name = &text[start..open];
        let operators: Vec<String> = match WORDS.iter().find(|(word, _)| *word == name) {
            Some((_, operator)) => vec![(*operator).to_owned()],
            None => name.trim_start_matches("checked_chain").chars().map(String::from).collect(),
        };
        let arguments = arguments(&text[open + 1..close]);
        if arguments.len() != operators.len() + 1 {
            break;
        }
        let mut written = format!("({}", arguments[0]);
        for (operator, argument) in operators.iter().zip(&arguments[1..]) {
            written.push_str(&format!(" {operator} {argument}"));
        }
        written.push(')');
        text.replace_range(start..=close, &written);
    }
    text
}

/// Where the parenthesis that opens at a place closes; texts between quotes are passed over.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, c) in text[open..].char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth -= 1;
                if depth == 0 {
                    return Some(open + at);
                }
            }
            _ => {}
        }
    }
    None
}

fn arguments(text: &str) -> Vec<&str> {
    let (mut found, mut depth, mut quote, mut start) = (Vec::new(), 0_i32, None, 0);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth -= 1,
            (None, ',') if depth == 0 => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(text[start..].trim());
    found
}

/// `c AND CASE WHEN c THEN d ELSE false END` is `c AND d`, asked in this order.
fn conditions_once(text: &str) -> String {
    const ENDS: [&str; 2] = [" ELSE false END", " ELSE Boolean(false) END"];
    let mut text = text.to_owned();
    while let Some((start, word)) = ["CASE true WHEN ", "CASE WHEN "].iter().filter_map(|word| text.rfind(word).map(|at| (at, *word))).max() {
        let inside = start + word.len();
        let Some((length, end)) = ENDS.iter().filter_map(|end| text[inside..].find(end).map(|at| (at, *end))).min() else { break };
        let Some((when, then)) = text[inside..inside + length].split_once(" THEN ") else { break };
        // A CASE of the one who asked has other branches, or another end.
        if [when, then].iter().any(|part| part.contains(" WHEN ") || part.contains(" ELSE ") || part.contains(" THEN ")) {
            break;
        }
        let (when, then) = (when.to_owned(), then.to_owned());
        let asked_before = format!("{when} AND ");
        let close = inside + length + end.len();
        match text[..start].ends_with(&asked_before) {
            true => text.replace_range(start..close, &then),
            false => text.replace_range(start..close, &format!("{when} AND {then}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{in_sql, plainly};

    #[test]
    fn operators_are_written_as_such() {
        assert_eq!(plainly("checked_add(CAST(k@1 AS Int64), 1) = 2"), "(CAST(k@1 AS Int64) + 1) = 2");
        assert_eq!(plainly("checked_multiply(checked_add(a, 1), checked_subtract(b, 2))"), "((a + 1) * (b - 2))");
        assert_eq!(plainly("checked_chain+-*(a, b, c, d)"), "(a + b - c * d)");
        assert_eq!(plainly("checked_add(a, length(\"x), (y\"))"), "(a + length(\"x), (y\"))");
        assert_eq!(plainly("checked_out@1"), "checked_out@1");
    }

    #[test]
    fn numbers_and_types_are_those_of_sql() {
        assert_eq!(in_sql("join on checked_add(CAST(a.k AS Int64), Int64(1)) = b.k"), "join on (CAST(a.k AS BIGINT) + 1) = b.k");
    }

    #[test]
    fn subqueries_have_no_made_up_names() {
        assert_eq!(plainly("join on a (table).k = __correlated_sq_12.t_id AND __scalar_sq_1.n"), "join on a.k = subquery.t_id AND subquery.n");
    }

    #[test]
    fn conditions_are_told_once() {
        assert_eq!(plainly("b != 0 AND CASE WHEN b != 0 THEN a / b > 2 ELSE false END"), "b != 0 AND a / b > 2");
        assert_eq!(
            plainly("CASE true WHEN checked_add(k, 1) = 2 THEN CAST(x AS Int32) > 0 ELSE false END, projection=[x]"),
            "(k + 1) = 2 AND CAST(x AS Int32) > 0, projection=[x]"
        );
        assert_eq!(plainly("c AND CASE WHEN c THEN CASE WHEN d THEN e ELSE false END ELSE false END"), "c AND d AND e");
        let own = "CASE WHEN a THEN b WHEN c THEN d ELSE false END";
        assert_eq!(plainly(own), own);
    }
}
