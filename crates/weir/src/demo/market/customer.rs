// SPDX-License-Identifier: Apache-2.0
//! Customers as the product knows them: `app_pg.public.customers`, and addresses they had before.

use super::chance::{Draw, below, number, per_mille, pick};
use super::names::{COUNTRIES, FIRST, FORMER_DOMAIN, LAST, MAIL_DOMAINS, PLANS};
use super::{DAY, Market, Rows};
use crate::demo::shape::{Kind, Shape, Value, col, opt};

/// Traps: names that are not ASCII or missing, e-mails that are missing, in mixed case, changed since, or shared by two
/// customers of one company; billing references that are missing.
pub const CUSTOMERS: Shape = Shape {
    name: "customers",
    columns: &[
        col("customer_id", Kind::Id),
        opt("email", Kind::Text),
        opt("billing_ref", Kind::Text),
        opt("name", Kind::Text),
        col("signed_up_at", Kind::At),
        col("good_standing", Kind::Bool),
        col("plan", Kind::Text),
        opt("tax_id", Kind::Text),
        col("country", Kind::Text),
    ],
    key: &["customer_id"],
    indexed: &["signed_up_at", "email", "billing_ref"],
};

/// What an e-mail was before it changed.
pub const FORMER_EMAILS: Shape = Shape {
    name: "former_emails",
    columns: &[col("customer_id", Kind::Id), col("email", Kind::Text), col("changed_at", Kind::At)],
    key: &["customer_id"],
    indexed: &["email"],
};

/// Three in ten signed up in the quarter of "now", evenly from its first second; the others in the two years before.
const NEW_PER_MILLE: u64 = 300;
const OLD_SPAN: i64 = 720 * DAY;

/// One customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    pub index: u64,
    pub customer_id: u64,
    pub email: Option<String>,
    pub billing_ref: Option<String>,
    pub name: Option<String>,
    pub signed_up_at: i64,
    pub good_standing: bool,
    pub plan: &'static str,
    pub tax_id: Option<String>,
    pub country: &'static str,
}

impl Customer {
    pub fn at(market: &Market, index: u64) -> Self {
        Self {
            index,
            customer_id: customer_id(index),
            email: email(index),
            billing_ref: (!matches!(index % 100, 7 | 43 | 71)).then(|| billing_ref(index)),
            name: (index % 100 != 97).then(|| name(index)),
            signed_up_at: signed_up_at(market, index),
            good_standing: good_standing(index),
            plan: pick(Draw::Plan, index, PLANS),
            tax_id: (index % 10 == 3).then(|| tax_id(index)),
            country: pick(Draw::Country, index, COUNTRIES),
        }
    }

    pub fn values(self) -> Vec<Value> {
        vec![
            self.customer_id.into(),
            self.email.into(),
            self.billing_ref.into(),
            self.name.into(),
            Value::At(self.signed_up_at),
            Value::Bool(self.good_standing),
            self.plan.into(),
            self.tax_id.into(),
            self.country.into(),
        ]
    }
}

pub(super) fn customer_id(index: u64) -> u64 {
    40_001 + index
}

/// Billing has numbers of its own.
pub(super) fn billing_ref(index: u64) -> String {
    format!("BILL-{}", 7_001 + index * 3)
}

pub(super) fn tax_id(index: u64) -> String {
    format!("27WEIR{:05}Z1", index)
}

/// How often a customer comes by, 0 to 999.
pub(super) fn activity(index: u64) -> u64 {
    number(Draw::Activity, index) % 1000
}

pub(super) fn good_standing(index: u64) -> bool {
    !per_mille(Draw::Standing, index, 180)
}

pub(super) fn name(index: u64) -> String {
    format!("{} {}", pick(Draw::FirstName, index, FIRST).0, pick(Draw::LastName, index, LAST).0)
}

fn local_part(index: u64) -> String {
    format!("{}.{}.{}", pick(Draw::FirstName, index, FIRST).1, pick(Draw::LastName, index, LAST).1, customer_id(index))
}

/// The address in the product today.
pub(super) fn email(index: u64) -> Option<String> {
    let domain = pick(Draw::Domain, index, MAIL_DOMAINS);
    match index % 100 {
        77 => None,
        15 => Some(format!("{}@{domain}", capitalised(&local_part(index)))),
        19 | 20 => Some(format!("ops@company{}.example", index / 100)),
        _ => Some(format!("{}@{domain}", local_part(index))),
    }
}

/// The address that other systems still know, where it differs from today's: the old one, or the one in lower case.
pub(super) fn email_elsewhere(index: u64) -> Option<String> {
    match index % 100 {
        11 => Some(former_email(index)),
        _ => email(index).map(|email| email.to_lowercase()),
    }
}

fn former_email(index: u64) -> String {
    format!("{}@{FORMER_DOMAIN}", local_part(index))
}

fn capitalised(local: &str) -> String {
    let word = |word: &str| word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)).collect::<String>();
    local.split('.').map(word).collect::<Vec<_>>().join(".")
}

pub(super) fn former_emails(market: &Market) -> Rows<'_> {
    let changed = (11..market.customer_count()).step_by(100);
    Box::new(changed.map(move |index| {
        let changed_at = signed_up_at(market, index).midpoint(market.now().micros());
        vec![customer_id(index).into(), Value::Text(former_email(index)), Value::At(changed_at)]
    }))
}

fn newcomers(market: &Market) -> u64 {
    market.customer_count() * NEW_PER_MILLE / 1000
}

/// Sign-ups are in the order of the numbers: customer `index` signs up in the slot of that number.
pub(super) fn signed_up_at(market: &Market, index: u64) -> i64 {
    let (start, slot, number) = slot(market, index);
    start + slot * number as i64 + below(Draw::SignUp, index, slot.unsigned_abs()) as i64
}

/// Start, length and number of the slot: one row of slots before the quarter, one in it.
fn slot(market: &Market, index: u64) -> (i64, i64, u64) {
    let old = market.customer_count() - newcomers(market);
    match index.checked_sub(old) {
        None => (market.quarter - OLD_SPAN, OLD_SPAN / old.max(1) as i64, index),
        Some(number) => (market.quarter, (market.now - market.quarter) / newcomers(market).max(1) as i64, number),
    }
}

/// How many customers have surely signed up at `at`: those whose slot has passed.
pub(super) fn signed_up_by(market: &Market, at: i64) -> u64 {
    let old = market.customer_count() - newcomers(market);
    let (index, before) = if at >= market.quarter { (old, old) } else { (0, 0) };
    let (start, slot, _) = slot(market, index);
    let passed = (at - start).max(0) / slot.max(1);
    (before + passed.unsigned_abs()).clamp(1, market.customer_count())
}
