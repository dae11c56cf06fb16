// SPDX-License-Identifier: Apache-2.0
//! The demo's marketplace: customers, payments, tickets, clicks and orders, each row a function of its number and of "now".
//!
//! The same scale and the same second give the same bytes everywhere. How many rows there are, and how often each trap
//! occurs, depends on the scale alone. The traps are those of real data; each doc comment of a table names its own.

mod account;
mod billing;
mod chance;
mod customer;
mod names;
mod revenue;
mod ticket;
mod traffic;

pub use account::ACCOUNTS;
pub use billing::{BILLING_CUSTOMERS, PAYMENTS, Payment};
pub use customer::{CUSTOMERS, Customer, FORMER_EMAILS};
pub use revenue::{REVENUE, Revenue};
pub use ticket::{TICKETS, Ticket};
pub use traffic::{Click, Order};

use crate::demo::shape::{Shape, Value};
use chrono::{DateTime, Datelike, NaiveDate};
use weir_base::{Error, ErrorCode, Result, Timestamp};

pub const SELLERS: u64 = 50;
pub const DAYS_OF_TRAFFIC: i64 = 90;

pub(crate) const SECOND: i64 = 1_000_000;
pub(crate) const DAY: i64 = 86_400 * SECOND;

/// Rows of one table, in order.
pub type Rows<'a> = Box<dyn Iterator<Item = Vec<Value>> + Send + 'a>;

/// The marketplace at one scale and one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Market {
    /// Customers: 10,000 at scale 1.
    customers: u64,
    /// Everything that happened, happened before this. Microseconds since 1970, whole seconds.
    now: i64,
    /// When the quarter of `now` began.
    quarter: i64,
}

impl Market {
    /// A scale between 0.01 and 100. Error: `Config`.
    pub fn new(scale: f64, now: Timestamp) -> Result<Self> {
        if !(0.01..=100.0).contains(&scale) {
            return Err(Error::new(ErrorCode::Config, "scale is out of range").with_hint("choose one between 0.01 and 100"));
        }
        let now = now.micros().div_euclid(SECOND) * SECOND;
        let quarter = quarter_start(now).ok_or_else(|| Error::internal("the clock shows no date"))?;
        Ok(Self { customers: (scale * 10_000.0).round() as u64, now, quarter })
    }

    pub fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.now)
    }

    /// When the quarter of `now` began.
    pub fn quarter(&self) -> Timestamp {
        Timestamp::from_micros(self.quarter)
    }

    pub fn customer_count(&self) -> u64 {
        self.customers
    }

    pub fn payment_count(&self) -> u64 {
        self.customers * 6
    }

    /// At least one for each planted story.
    pub fn ticket_count(&self) -> u64 {
        self.customers * 2 / 5
    }

    pub fn click_count(&self) -> u64 {
        self.customers * 100
    }

    pub fn order_count(&self) -> u64 {
        self.customers * 10
    }

    pub fn customers(&self) -> impl Iterator<Item = Customer> + Send + '_ {
        (0..self.customers).map(|index| Customer::at(self, index))
    }

    pub fn payments(&self) -> impl Iterator<Item = Payment> + Send + '_ {
        (0..self.payment_count()).map(|index| Payment::at(self, index))
    }

    pub fn tickets(&self) -> impl Iterator<Item = Ticket> + Send + '_ {
        (0..self.ticket_count()).map(|index| Ticket::at(self, index))
    }

    pub fn clicks(&self) -> impl Iterator<Item = Click> + Send + '_ {
        (0..self.click_count()).map(|index| Click::at(self, index))
    }

    pub fn orders(&self) -> impl Iterator<Item = Order> + Send + '_ {
        (0..self.order_count()).map(|index| Order::at(self, index))
    }

    /// The tables of the system called `system`, each with its rows. The lake's are made elsewhere, as Arrow.
    pub fn tables(&self, system: &str) -> Vec<(&'static Shape, Rows<'_>)> {
        match system {
            "app_pg" => vec![(&CUSTOMERS, boxed(self.customers().map(Customer::values))), (&FORMER_EMAILS, customer::former_emails(self))],
            "billing_mysql" => vec![(&BILLING_CUSTOMERS, billing::customers(self)), (&PAYMENTS, boxed(self.payments().map(Payment::values)))],
            "support_pg" => vec![(&TICKETS, boxed(self.tickets().map(Ticket::values)))],
            "marts" => vec![(&REVENUE, boxed(revenue::revenue(self).into_iter().map(Revenue::values)))],
            "crm" => vec![(&ACCOUNTS, account::accounts(self))],
            _ => Vec::new(),
        }
    }

    /// Curated revenue: what the orders come to, by customer and month.
    pub fn revenue(&self) -> Vec<Revenue> {
        revenue::revenue(self)
    }

    /// Customers whose story is planted: a payment that failed this week, and an open ticket.
    fn stories(&self) -> u64 {
        (0..STORIES.len() as u64).map(|story| (self.customers + 999).saturating_sub(STORIES[story as usize]) / 1000).sum()
    }

    /// The customer of a planted story.
    fn story(&self, number: u64) -> u64 {
        let kinds = STORIES.len() as u64;
        number / kinds * 1000 + STORIES[(number % kinds) as usize]
    }
}

fn boxed<'a>(rows: impl Iterator<Item = Vec<Value>> + Send + 'a) -> Rows<'a> {
    Box::new(rows)
}

/// Positions among every 1,000 customers: plain, without billing reference, with a changed e-mail, with a mixed-case e-mail,
/// and one who shares a company address with the next.
const STORIES: [u64; 5] = [3, 7, 11, 15, 19];

fn quarter_start(micros: i64) -> Option<i64> {
    let today = DateTime::from_timestamp_micros(micros)?.date_naive();
    let first = NaiveDate::from_ymd_opt(today.year(), today.month0() / 3 * 3 + 1, 1)?;
    Some(first.and_hms_opt(0, 0, 0)?.and_utc().timestamp_micros())
}

/// Days since 1970 of an instant.
pub(crate) fn day_of(micros: i64) -> i32 {
    micros.div_euclid(DAY) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::shape::csv;
    use std::collections::{BTreeMap, BTreeSet};

    fn market(scale: f64) -> Market {
        // 2026-11-30 19:00 UTC.
        Market::new(scale, Timestamp::from_millis(1_796_065_200_000)).unwrap()
    }

    /// FNV-1a over every row of every table.
    fn fingerprint(market: &Market) -> u64 {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        let mut hash = 0xcbf2_9ce4_8422_2325;
        for system in ["app_pg", "billing_mysql", "support_pg", "marts", "crm"] {
            for (_, rows) in market.tables(system) {
                hash = csv(rows).as_bytes().iter().fold(hash, step);
            }
        }
        let traffic = format!("{:?}{:?}", market.clicks().collect::<Vec<_>>(), market.orders().collect::<Vec<_>>());
        traffic.as_bytes().iter().fold(hash, step)
    }

    #[test]
    fn the_same_bytes_everywhere() {
        assert_eq!(fingerprint(&market(0.01)), 933_354_496_569_970_768);
    }

    #[test]
    fn sizes_follow_the_scale_alone() {
        let market = market(1.0);
        let sizes = (market.customer_count(), market.click_count(), market.order_count(), market.payment_count(), market.ticket_count());
        assert_eq!(sizes, (10_000, 1_000_000, 100_000, 60_000, 4_000));
        assert!(Market::new(0.0, market.now()).is_err() && Market::new(1000.0, market.now()).is_err());
    }

    #[test]
    fn every_trap_is_there() {
        let market = market(0.1);
        let customers: Vec<Customer> = market.customers().collect();
        let count = |of: &dyn Fn(&Customer) -> bool| customers.iter().filter(|customer| of(customer)).count();
        assert_eq!(count(&|customer| customer.email.is_none()), 10);
        assert_eq!(count(&|customer| customer.billing_ref.is_none()), 30);
        assert_eq!(count(&|customer| customer.name.is_none()), 10);
        assert_eq!(count(&|customer| customer.email.as_ref().is_some_and(|email| email.to_lowercase() != *email)), 10);
        assert!(count(&|customer| customer.name.as_ref().is_some_and(|name| !name.is_ascii())) > 300);
        assert_eq!(count(&|customer| customer.signed_up_at >= market.quarter().micros()), 300);
        let mut shared: BTreeMap<&str, usize> = BTreeMap::new();
        for email in customers.iter().filter_map(|customer| customer.email.as_deref()) {
            *shared.entry(email).or_default() += 1;
        }
        assert_eq!(shared.values().filter(|count| **count == 2).count(), 10);
        assert!(market.tickets().any(|ticket| ticket.customer_email.is_some_and(|email| email.ends_with("@oldmail.example"))));
        assert!(market.tickets().any(|ticket| ticket.customer_email.is_none()));

        let week_ago = market.now().micros() - 7 * DAY;
        let failed: Vec<Payment> = market.payments().filter(|payment| payment.status == "failed").collect();
        assert!(failed.iter().filter(|payment| payment.attempted_at >= week_ago).count() >= 5);
        assert!(failed.iter().filter(|payment| payment.attempted_at < week_ago).count() >= 5);
        assert!(failed.iter().any(|payment| payment.failure_reason.is_none()));
        assert!(market.payments().any(|payment| payment.cents < 0) && market.orders().any(|order| order.cents < 0));
        assert!(market.clicks().any(|click| click.customer_id.is_none()));
    }

    #[test]
    fn nothing_happens_before_a_sign_up_or_after_now() {
        let market = market(0.02);
        let signed_up: BTreeMap<u64, i64> = market.customers().map(|customer| (customer.customer_id, customer.signed_up_at)).collect();
        let times = market.clicks().map(|click| click.event_time).collect::<Vec<_>>();
        assert!(times.is_sorted() && times.iter().all(|time| *time < market.now().micros()));
        assert!(market.clicks().filter_map(|click| Some((signed_up[&click.customer_id?], click.event_time))).all(|(from, at)| from <= at));
        assert!(market.orders().all(|order| signed_up[&order.customer_id] <= order.ordered_at));
        let keys: BTreeSet<u64> = market.payments().map(|payment| payment.payment_id).collect();
        assert_eq!(keys.len() as u64, market.payment_count());
    }

    #[test]
    fn the_first_second_of_a_quarter_is_a_market_too() {
        let market = Market::new(0.01, Timestamp::from_millis(1_790_812_800_000)).unwrap();
        assert_eq!(market.quarter(), market.now());
        assert_eq!(market.customers().filter(|customer| customer.signed_up_at >= market.quarter().micros()).count(), 30);
        assert_eq!(market.clicks().count(), 10_000);
    }
}
