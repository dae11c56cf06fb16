// SPDX-License-Identifier: Apache-2.0
//! The export of the sales team's CRM: `crm.main.accounts`. It knows companies and contacts, and none of the other systems' ids.

use super::chance::{Draw, below, pick};
use super::customer::{email_elsewhere, name};
use super::names::company;
use super::{DAY, Market, Rows, day_of};
use crate::demo::shape::{Kind, Shape, Value, col, opt};

/// Traps: addresses that are missing or out of date, companies that look alike.
pub const ACCOUNTS: Shape = Shape {
    name: "accounts",
    columns: &[
        col("account_number", Kind::Text),
        col("company", Kind::Text),
        opt("domain", Kind::Text),
        opt("contact_name", Kind::Text),
        opt("contact_email", Kind::Text),
        col("stage", Kind::Text),
        opt("annual_value", Kind::Money),
        col("created_on", Kind::Day),
    ],
    key: &["account_number"],
    indexed: &[],
};

const STAGES: &[&str] = &["lead", "trial", "customer", "customer", "churned"];

/// One account for every fourth customer, and for those at a company address.
pub(super) fn accounts(market: &Market) -> Rows<'_> {
    let known = (0..market.customer_count()).filter(|index| index % 4 == 3 || index % 100 == 20);
    Box::new(known.map(move |index| {
        let email = if index % 8 == 7 { None } else { email_elsewhere(index) };
        let domain = email.as_ref().and_then(|email| email.split_once('@')).map(|(_, domain)| domain.to_owned());
        let value = (index % 12 != 11).then(|| 10_000 + below(Draw::Account, index, 5_000_000) as i64);
        vec![
            Value::Text(format!("ACC-{}", 20_001 + index)),
            Value::Text(company(index / 4)),
            domain.into(),
            Value::Text(name(index)),
            email.into(),
            pick(Draw::Account, index, STAGES).into(),
            value.map_or(Value::Null, Value::Cents),
            Value::Day(day_of(market.now().micros() - below(Draw::Account, index, 700) as i64 * DAY)),
        ]
    }))
}
