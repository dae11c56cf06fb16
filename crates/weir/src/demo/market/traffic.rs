// SPDX-License-Identifier: Apache-2.0
//! What happens on the marketplace, in the lake: `lake.web.clickstream` and `lake.web.orders`, the last 90 days in order.

use super::chance::{Draw, below, per_mille};
use super::customer::{activity, customer_id, good_standing, signed_up_by};
use super::{DAY, DAYS_OF_TRAFFIC, Market, SELLERS};

const PRODUCTS_PER_SELLER: u64 = 30;
const CAMPAIGNS_PER_SELLER: u64 = 4;

/// One event on a page. Trap: visitors that are not logged in have no customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Click {
    pub event_id: u64,
    pub customer_id: Option<u64>,
    pub seller_id: u64,
    pub campaign_id: u64,
    pub product_id: u64,
    pub event_time: i64,
    pub event_type: &'static str,
}

impl Click {
    pub fn at(market: &Market, index: u64) -> Self {
        let event_time = moment(market, index, market.click_count());
        let seller_id = seller(index);
        Self {
            event_id: 1 + index,
            customer_id: (!per_mille(Draw::Anonymous, index, 100)).then(|| customer_id(visitor(market, index, event_time))),
            seller_id,
            campaign_id: campaign(seller_id, index),
            product_id: product(seller_id, index),
            event_time,
            event_type: match below(Draw::EventKind, index, 100) {
                0..50 => "view",
                50..95 => "click",
                _ => "add_to_cart",
            },
        }
    }

    pub fn url(&self) -> String {
        format!("https://market.example/s/{}/p/{}?c={}", self.seller_id, self.product_id, self.campaign_id)
    }
}

/// One order, or the refund of one. Trap: refunds have negative amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    pub order_id: u64,
    pub customer_id: u64,
    pub seller_id: u64,
    pub campaign_id: u64,
    pub product_id: u64,
    pub ordered_at: i64,
    pub kind: &'static str,
    pub cents: i64,
}

impl Order {
    pub fn at(market: &Market, index: u64) -> Self {
        // Numbers of their own: an order is not one of the clicks.
        let draw_index = index + (1 << 40);
        let ordered_at = moment(market, index, market.order_count());
        let buyer = buyer(market, index, ordered_at);
        let seller_id = seller(draw_index);
        let cents = amount(index, good_standing(buyer));
        let refund = per_mille(Draw::OrderKind, index, 30);
        Self {
            order_id: 700_001 + index,
            customer_id: customer_id(buyer),
            seller_id,
            campaign_id: campaign(seller_id, draw_index),
            product_id: product(seller_id, draw_index),
            ordered_at,
            kind: if refund { "refund" } else { "sale" },
            cents: if refund { -cents } else { cents },
        }
    }
}

/// Times rise with the number, evenly over the days of traffic.
fn moment(market: &Market, index: u64, count: u64) -> i64 {
    let slot = DAYS_OF_TRAFFIC * DAY / count as i64;
    market.now - DAYS_OF_TRAFFIC * DAY + slot * index as i64 + below(Draw::Moment, index, slot.unsigned_abs()) as i64
}

/// Of two customers who are there already, the more active one.
fn visitor(market: &Market, index: u64, at: i64) -> u64 {
    let there = signed_up_by(market, at);
    let (one, other) = (below(Draw::Visitor, index, there), below(Draw::VisitorRival, index, there));
    if activity(other) > activity(one) { other } else { one }
}

/// Those in good standing buy as they browse; for the others, coming by says little about buying.
fn buyer(market: &Market, index: u64, at: i64) -> u64 {
    let there = signed_up_by(market, at);
    let (one, other) = (below(Draw::Buyer, index, there), below(Draw::BuyerRival, index, there));
    let rival_wins = good_standing(one) && good_standing(other) && activity(other) > activity(one);
    if rival_wins { other } else { one }
}

/// A few purchases of customers in bad standing are far too large for them.
fn amount(index: u64, good_standing: bool) -> i64 {
    let cents = 500 + below(Draw::OrderAmount, index, 15_000) as i64;
    if !good_standing && per_mille(Draw::Windfall, index, 50) { cents * 25 } else { cents }
}

/// Sellers with low numbers are larger.
fn seller(index: u64) -> u64 {
    1 + below(Draw::Seller, index, SELLERS).min(below(Draw::SellerRival, index, SELLERS))
}

fn campaign(seller: u64, index: u64) -> u64 {
    seller * 10 + 1 + below(Draw::Campaign, index, CAMPAIGNS_PER_SELLER)
}

fn product(seller: u64, index: u64) -> u64 {
    seller * 100 + below(Draw::Product, index, PRODUCTS_PER_SELLER)
}
