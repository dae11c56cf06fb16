// SPDX-License-Identifier: Apache-2.0
//! Chance that is a pure function of seed, stream and index: integers only, so that every machine draws the same, in any order.

/// What a draw is for. Each has numbers of its own, so that one more draw somewhere changes nothing elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Draw {
    SignUp,
    FirstName,
    LastName,
    Domain,
    Activity,
    Standing,
    Plan,
    Country,
    Payer,
    PaymentTime,
    PaymentState,
    PaymentAmount,
    Asker,
    TicketTime,
    TicketState,
    Visitor,
    VisitorRival,
    Anonymous,
    Moment,
    Seller,
    SellerRival,
    Campaign,
    Product,
    EventKind,
    Buyer,
    BuyerRival,
    OrderKind,
    OrderAmount,
    Windfall,
    Account,
}

const SEED: u64 = 0x5765_6972_2064_656d;

/// A number for this draw and index; all 64 bits are good (splitmix64).
pub(crate) fn number(draw: Draw, index: u64) -> u64 {
    let stream = mix(SEED ^ (draw as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mix(stream.wrapping_add(index.wrapping_mul(0xd134_2543_de82_ef95)))
}

/// A number below `bound`; 0 where the bound is 0.
pub(crate) fn below(draw: Draw, index: u64, bound: u64) -> u64 {
    let wide = u128::from(number(draw, index)) * u128::from(bound);
    (wide >> 64) as u64
}

/// True in `parts` of 1,000 cases.
pub(crate) fn per_mille(draw: Draw, index: u64, parts: u64) -> bool {
    below(draw, index, 1000) < parts
}

/// One of a list that is not empty.
pub(crate) fn pick<T: Copy>(draw: Draw, index: u64, of: &[T]) -> T {
    of[below(draw, index, of.len() as u64) as usize]
}

fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_spread_and_repeatable() {
        assert_eq!(number(Draw::Plan, 7), number(Draw::Plan, 7));
        assert_ne!(number(Draw::Plan, 7), number(Draw::Country, 7));
        let hits = (0..10_000).filter(|index| per_mille(Draw::Plan, *index, 250)).count();
        assert!((2_350..2_650).contains(&hits), "{hits}");
        assert_eq!(below(Draw::Plan, 1, 0), 0);
    }
}
