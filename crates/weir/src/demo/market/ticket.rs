// SPDX-License-Identifier: Apache-2.0
//! Support: `support_pg.public.tickets`. It knows customers by their e-mail alone.

use super::chance::{Draw, below, pick};
use super::customer::email_elsewhere;
use super::{DAY, Market};
use crate::demo::shape::{Kind, Shape, Value, col, opt};

/// Traps: tickets under an address that has changed since, under the lower-case form of an address, and under a company's
/// address that two customers share; tickets without an address.
pub const TICKETS: Shape = Shape {
    name: "tickets",
    columns: &[
        col("ticket_id", Kind::Id),
        opt("customer_email", Kind::Text),
        col("subject", Kind::Text),
        col("status", Kind::Text),
        col("priority", Kind::Int),
        col("opened_at", Kind::At),
        opt("closed_at", Kind::At),
        opt("satisfaction", Kind::Int),
    ],
    key: &["ticket_id"],
    indexed: &["status", "customer_email"],
};

const SUBJECTS: &[&str] =
    &["Payment was declined", "Where is my order?", "Refund bitte", "Cannot log in", "Größe falsch geliefert", "請求書について", "Change of address"];
const DAYS: i64 = 180;

/// One ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    pub ticket_id: u64,
    pub customer_email: Option<String>,
    pub subject: &'static str,
    pub status: &'static str,
    pub priority: i64,
    pub opened_at: i64,
    pub closed_at: Option<i64>,
    pub satisfaction: Option<i64>,
}

impl Ticket {
    /// The planted stories come first: an open ticket of the last five days for each.
    pub fn at(market: &Market, index: u64) -> Self {
        let planted = index < market.stories();
        let asker = if planted { planted_asker(market.story(index)) } else { below(Draw::Asker, index, market.customer_count()) };
        let status = if planted { "open" } else { status(index) };
        let days = if status == "open" { 5 } else { DAYS };
        let opened_at = market.now - 1 - below(Draw::TicketTime, index, (days * DAY).unsigned_abs()) as i64;
        let closed = status == "closed";
        Self {
            ticket_id: 90_001 + index,
            customer_email: email_elsewhere(asker),
            subject: pick(Draw::TicketTime, index, SUBJECTS),
            status,
            priority: 1 + below(Draw::TicketState, index, 4) as i64,
            opened_at,
            closed_at: closed.then(|| opened_at.midpoint(market.now)),
            satisfaction: (closed && index.is_multiple_of(3)).then(|| 1 + (index % 5) as i64),
        }
    }

    pub fn values(self) -> Vec<Value> {
        vec![
            self.ticket_id.into(),
            self.customer_email.into(),
            self.subject.into(),
            self.status.into(),
            Value::Int(self.priority),
            Value::At(self.opened_at),
            self.closed_at.map_or(Value::Null, Value::At),
            self.satisfaction.map_or(Value::Null, Value::Int),
        ]
    }
}

/// Of two who share an address, it is the other one who asks.
fn planted_asker(index: u64) -> u64 {
    if index % 100 == 19 { index + 1 } else { index }
}

fn status(index: u64) -> &'static str {
    match below(Draw::TicketState, index, 1000) {
        0..30 => "open",
        30..100 => "pending",
        _ => "closed",
    }
}
