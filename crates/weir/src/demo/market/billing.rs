// SPDX-License-Identifier: Apache-2.0
//! Billing: `billing_mysql.billing.payments` and the customers as billing knows them.

use super::chance::{Draw, below, pick};
use super::customer::{billing_ref, email_elsewhere, tax_id};
use super::names::COUNTRIES;
use super::{DAY, Market, Rows};
use crate::demo::shape::{Kind, Shape, Value, col, opt};

/// Traps: refunds (negative amounts), payments that failed this week and before, reasons that are NULL, payers whose
/// reference the product does not know.
pub const PAYMENTS: Shape = Shape {
    name: "payments",
    columns: &[
        col("payment_id", Kind::Id),
        col("customer_ref", Kind::Text),
        col("status", Kind::Text),
        opt("failure_reason", Kind::Text),
        col("attempted_at", Kind::At),
        col("amount", Kind::Money),
        col("currency", Kind::Text),
    ],
    key: &["payment_id"],
    indexed: &["attempted_at", "customer_ref"],
};

/// Customers as billing knows them; the address may be an old one.
pub const BILLING_CUSTOMERS: Shape = Shape {
    name: "customers",
    columns: &[col("customer_ref", Kind::Text), opt("billing_email", Kind::Text), opt("tax_id", Kind::Text), col("country", Kind::Text)],
    key: &["customer_ref"],
    indexed: &[],
};

const DAYS: i64 = 60;
const REASONS: &[&str] = &["insufficient_funds", "card_expired", "do_not_honor", "3ds_failed", "suspected_fraud"];

/// One attempt to pay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    pub payment_id: u64,
    pub customer_ref: String,
    pub status: &'static str,
    pub failure_reason: Option<&'static str>,
    pub attempted_at: i64,
    pub cents: i64,
}

impl Payment {
    /// The planted stories come first: one that failed in the last five days for each.
    pub fn at(market: &Market, index: u64) -> Self {
        let planted = index < market.stories();
        let payer = if planted { market.story(index) } else { below(Draw::Payer, index, market.customer_count()) };
        let days = if planted { 5 } else { DAYS };
        let attempted_at = market.now - 1 - below(Draw::PaymentTime, index, (days * DAY).unsigned_abs()) as i64;
        let status = if planted { "failed" } else { status(index) };
        let cents = 500 + below(Draw::PaymentAmount, index, 20_000) as i64;
        let failed = status == "failed" && index % 50 != 49;
        Self {
            payment_id: 500_001 + index,
            customer_ref: billing_ref(payer),
            status,
            failure_reason: failed.then(|| pick(Draw::PaymentAmount, index, REASONS)),
            attempted_at,
            cents: if status == "refunded" { -cents } else { cents },
        }
    }

    pub fn values(self) -> Vec<Value> {
        vec![
            self.payment_id.into(),
            Value::Text(self.customer_ref),
            self.status.into(),
            self.failure_reason.map_or(Value::Null, Value::from),
            Value::At(self.attempted_at),
            Value::Cents(self.cents),
            "EUR".into(),
        ]
    }
}

fn status(index: u64) -> &'static str {
    match below(Draw::PaymentState, index, 1000) {
        0..40 => "failed",
        40..60 => "refunded",
        60..70 => "pending",
        _ => "paid",
    }
}

pub(super) fn customers(market: &Market) -> Rows<'_> {
    Box::new((0..market.customer_count()).map(|index| {
        let tax_id = (index % 10 == 3).then(|| tax_id(index));
        vec![Value::Text(billing_ref(index)), email_elsewhere(index).into(), tax_id.into(), pick(Draw::Country, index, COUNTRIES).into()]
    }))
}
