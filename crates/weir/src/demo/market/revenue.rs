// SPDX-License-Identifier: Apache-2.0
//! Curated revenue in the warehouse: `marts.public.revenue`, what the orders come to by customer and month.

use super::{Market, day_of};
use crate::demo::shape::{Kind, Shape, Value, col};
use chrono::{Datelike, NaiveDate};
use std::collections::BTreeMap;

/// Trap: a month with more refunds than sales has a negative net.
pub const REVENUE: Shape = Shape {
    name: "revenue",
    columns: &[
        col("customer_id", Kind::Id),
        col("revenue_month", Kind::Day),
        col("orders", Kind::Int),
        col("gross", Kind::Money),
        col("refunds", Kind::Money),
        col("net", Kind::Money),
    ],
    key: &[],
    indexed: &[],
};

/// A customer's month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Revenue {
    pub customer_id: u64,
    /// First day of the month, in days since 1970.
    pub month: i32,
    pub orders: i64,
    pub gross_cents: i64,
    pub refund_cents: i64,
}

impl Revenue {
    pub fn net_cents(&self) -> i64 {
        self.gross_cents + self.refund_cents
    }

    pub fn values(self) -> Vec<Value> {
        vec![
            self.customer_id.into(),
            Value::Day(self.month),
            Value::Int(self.orders),
            Value::Cents(self.gross_cents),
            Value::Cents(self.refund_cents),
            Value::Cents(self.net_cents()),
        ]
    }
}

pub(super) fn revenue(market: &Market) -> Vec<Revenue> {
    let mut months: BTreeMap<(u64, i32), Revenue> = BTreeMap::new();
    for order in market.orders() {
        let month = month_of(order.ordered_at);
        let fresh = Revenue { customer_id: order.customer_id, month, ..Revenue::default() };
        let sum = months.entry((order.customer_id, month)).or_insert(fresh);
        if order.cents < 0 {
            sum.refund_cents += order.cents;
        } else {
            sum.orders += 1;
            sum.gross_cents += order.cents;
        }
    }
    months.into_values().collect()
}

fn month_of(micros: i64) -> i32 {
    let day = day_of(micros);
    let date = NaiveDate::from_epoch_days(day).unwrap_or_default();
    day - date.day0() as i32
}
