// SPDX-License-Identifier: Apache-2.0
//! The three questions of the federated example: their words, and the SQL that answers them.

/// One question; its text is a file of the example, whose first lines are a comment with the question in words.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    pub title: &'static str,
    text: &'static str,
}

pub const ENGAGEMENT: Question = Question {
    title: "Engagement and revenue: a lakehouse, a warehouse and a Postgres replica",
    text: include_str!("../../../../examples/federated/engagement.sql"),
};

pub const FAILED_PAYMENTS: Question = Question {
    title: "Failed payments and open tickets: two Postgres servers and a MariaDB",
    text: include_str!("../../../../examples/federated/failed_payments.sql"),
};

pub const SELLER_DASHBOARD: Question = Question {
    title: "A seller's dashboard: one seller and a time range of the lake",
    text: include_str!("../../../../examples/federated/seller_dashboard.sql"),
};

impl Question {
    /// The question as a person asks it.
    pub fn words(&self) -> String {
        let lines = self.text.lines().map_while(|line| line.strip_prefix("-- "));
        lines.collect::<Vec<_>>().join(" ")
    }

    /// The SQL without the comment.
    pub fn sql(&self) -> String {
        self.text.lines().skip_while(|line| line.starts_with("-- ")).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_sql_are_told_apart() {
        assert_eq!(FAILED_PAYMENTS.words(), "Which customers with an open support ticket had a payment fail this week?");
        assert!(FAILED_PAYMENTS.sql().starts_with("SELECT c.customer_id"));
        assert!(ENGAGEMENT.words().ends_with("in good standing?"));
    }
}
