// SPDX-License-Identifier: Apache-2.0
//! The order in which parts of a plan are joined, by what they are taken to give: few rows leave their sources, and few are made here.

/// Up to so many parts every order is looked at; of more, the cheapest pair is joined again and again.
const PARTS_LOOKED_AT_MAX: usize = 8;
/// Parts that can be told apart.
const PARTS_MAX: usize = 63;

/// What a row costs that leaves a source: it is written, sent and read.
const MOVED: f64 = 1.0;
/// What a row costs that is read here from the lake or made here.
const READ: f64 = 0.1;
/// What a row costs that goes into a join, and one that comes out of it.
const BUILT: f64 = 0.2;
const PROBED: f64 = 0.1;
const JOINED: f64 = 0.1;

/// Rows below which no keys are sent.
pub(crate) const ROWS_WORTH_A_FILTER: f64 = 500.0;

/// A set of parts, one bit for each.
pub(super) type Parts = u64;

/// Something that is joined.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub rows: f64,
    /// Whether its rows are in a source, which takes keys from a join.
    pub remote: bool,
}

/// A condition over several parts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Link {
    /// A value of the parts on one side is equal to one of those on the other: with the different values of each, where known.
    Key { left: Parts, right: Parts, distinct: (Option<f64>, Option<f64>) },
    /// Anything else, which a share of the combinations fulfils.
    Other { parts: Parts, share: f64 },
}

/// The order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Part(usize),
    Join(Box<Tree>, Box<Tree>),
}

impl Tree {
    fn join(left: Self, right: Self) -> Self {
        Self::Join(Box::new(left), Box::new(right))
    }

    fn parts(&self) -> Parts {
        match self {
            Self::Part(index) => 1 << index,
            Self::Join(left, right) => left.parts() | right.parts(),
        }
    }
}

/// The best order, the first side of each join being the smaller one; the order as written where no other is clearly better.
/// `None` where the parts do not hang together by keys.
pub(super) fn best(parts: &[Part], links: &[Link]) -> Option<Tree> {
    if parts.len() < 2 || parts.len() > PARTS_MAX {
        return None;
    }
    let costs = Costs::new(parts, links);
    let written = costs.written()?;
    let found = if parts.len() <= PARTS_LOOKED_AT_MAX { costs.of_all_orders() } else { costs.greedy() }?;
    const CLEARLY: f64 = 0.9;
    let better = costs.of(&found) < CLEARLY * costs.of(&written);
    Some(costs.smaller_first(if better { found } else { written }))
}

struct Costs<'a> {
    parts: &'a [Part],
    keys: Vec<Keys>,
    others: Vec<(Parts, f64)>,
}

/// All equalities between the same two sides.
struct Keys {
    left: Parts,
    right: Parts,
    /// Different combinations of values on each side.
    distinct: (f64, f64),
}

impl<'a> Costs<'a> {
    fn new(parts: &'a [Part], links: &[Link]) -> Self {
        let mut costs = Self { parts, keys: Vec::new(), others: Vec::new() };
        for link in links {
            match link {
                Link::Other { parts, share } => costs.others.push((*parts, *share)),
                Link::Key { left, right, distinct } => costs.add(*left, *right, *distinct),
            }
        }
        costs
    }

    fn add(&mut self, left: Parts, right: Parts, distinct: (Option<f64>, Option<f64>)) {
        let (left, right, distinct) = if left <= right { (left, right, distinct) } else { (right, left, (distinct.1, distinct.0)) };
        let (most_left, most_right) = (self.product(left), self.product(right));
        let known = (distinct.0.unwrap_or(most_left), distinct.1.unwrap_or(most_right));
        let capped = |(l, r): (f64, f64)| (l.clamp(1.0, most_left), r.clamp(1.0, most_right));
        match self.keys.iter_mut().find(|keys| (keys.left, keys.right) == (left, right)) {
            Some(keys) => keys.distinct = capped((keys.distinct.0 * known.0, keys.distinct.1 * known.1)),
            None => self.keys.push(Keys { left, right, distinct: capped(known) }),
        }
    }

    fn product(&self, parts: Parts) -> f64 {
        each(parts).map(|index| self.parts[index].rows).product::<f64>().max(1.0)
    }

    /// Rows of a join of these parts, whatever its order.
    fn rows(&self, parts: Parts) -> f64 {
        let within = |inner: Parts| inner & parts == inner;
        let keys = self.keys.iter().filter(|keys| within(keys.left | keys.right)).map(|keys| 1.0 / keys.distinct.0.max(keys.distinct.1));
        let others = self.others.iter().filter(|(over, _)| within(*over)).map(|(_, share)| *share);
        (self.product(parts) * keys.chain(others).product::<f64>()).max(1.0)
    }

    fn connected(&self, a: Parts, b: Parts) -> bool {
        self.between(a, b).next().is_some()
    }

    /// Different keys of `a`, and of `b`.
    fn between(&self, a: Parts, b: Parts) -> impl Iterator<Item = (f64, f64)> {
        self.keys.iter().filter_map(move |keys| match () {
            () if keys.left & a == keys.left && keys.right & b == keys.right => Some(keys.distinct),
            () if keys.left & b == keys.left && keys.right & a == keys.right => Some((keys.distinct.1, keys.distinct.0)),
            () => None,
        })
    }

    /// What it costs to join these two, beside what they cost themselves.
    fn of_join(&self, a: Parts, b: Parts) -> f64 {
        let (small, large) = if self.rows(a) <= self.rows(b) { (a, b) } else { (b, a) };
        let reads = self.of_reading(small, None) + self.of_reading(large, Some(small));
        let probed = self.left_over(large, small).unwrap_or_else(|| self.rows(large));
        reads + BUILT * self.rows(small) + PROBED * probed + JOINED * self.rows(a | b)
    }

    /// What it costs to read a part; nothing for what is a join itself.
    fn of_reading(&self, parts: Parts, narrowed_by: Option<Parts>) -> f64 {
        let mut all = each(parts);
        let (Some(index), None) = (all.next(), all.next()) else { return 0.0 };
        let part = self.parts[index];
        let rows = narrowed_by.and_then(|by| self.left_over(parts, by)).unwrap_or(part.rows);
        rows * if part.remote { MOVED } else { READ }
    }

    /// Rows of one part that keys of others leave, where it is worth to send them there.
    fn left_over(&self, part: Parts, by: Parts) -> Option<f64> {
        let rows = self.rows(part);
        if part.count_ones() != 1 || rows < ROWS_WORTH_A_FILTER {
            return None;
        }
        let sent = |(known, own): (f64, f64)| {
            let keys = known.min(self.rows(by));
            (keys <= rows / 2.0).then(|| rows * (keys / own).min(1.0))
        };
        self.between(by, part).filter_map(sent).min_by(f64::total_cmp)
    }

    fn of(&self, tree: &Tree) -> f64 {
        match tree {
            Tree::Part(_) => 0.0,
            Tree::Join(left, right) => self.of(left) + self.of(right) + self.of_join(left.parts(), right.parts()),
        }
    }

    /// Each part joined with those before it, as far as keys allow.
    fn written(&self) -> Option<Tree> {
        let mut waiting: Vec<usize> = (1..self.parts.len()).collect();
        let mut tree = Tree::Part(0);
        while !waiting.is_empty() {
            let at = waiting.iter().position(|index| self.connected(tree.parts(), 1 << index))?;
            tree = Tree::join(tree, Tree::Part(waiting.remove(at)));
        }
        Some(tree)
    }

    /// For each set of parts the cheapest way to join it, from the small sets to the large ones.
    fn of_all_orders(&self) -> Option<Tree> {
        let all: Parts = (1 << self.parts.len()) - 1;
        let mut best: Vec<Option<(f64, Tree)>> = vec![None; all as usize + 1];
        for index in 0..self.parts.len() {
            best[1 << index] = Some((0.0, Tree::Part(index)));
        }
        for parts in 1..=all {
            if parts.count_ones() < 2 {
                continue;
            }
            best[parts as usize] = self.cheapest(parts, &best);
        }
        best.pop().flatten().map(|(_, tree)| tree)
    }

    fn cheapest(&self, parts: Parts, best: &[Option<(f64, Tree)>]) -> Option<(f64, Tree)> {
        let mut found: Option<(f64, Parts)> = None;
        let lowest = parts & parts.wrapping_neg();
        let mut side = (parts - 1) & parts;
        while side > 0 {
            let other = parts & !side;
            // Each pair of sides once.
            if side & lowest != 0
                && let (Some((left, _)), Some((right, _))) = (&best[side as usize], &best[other as usize])
                && self.connected(side, other)
            {
                let cost = left + right + self.of_join(side, other);
                if found.is_none_or(|(least, _)| cost < least) {
                    found = Some((cost, side));
                }
            }
            side = (side - 1) & parts;
        }
        let (cost, side) = found?;
        let (_, left) = best[side as usize].as_ref()?;
        let (_, right) = best[(parts & !side) as usize].as_ref()?;
        Some((cost, Tree::join(left.clone(), right.clone())))
    }

    fn greedy(&self) -> Option<Tree> {
        let mut trees: Vec<Tree> = (0..self.parts.len()).map(Tree::Part).collect();
        while trees.len() > 1 {
            let mut found: Option<(f64, usize, usize)> = None;
            for (left, right) in (0..trees.len()).flat_map(|left| (left + 1..trees.len()).map(move |right| (left, right))) {
                let (a, b) = (trees[left].parts(), trees[right].parts());
                if !self.connected(a, b) {
                    continue;
                }
                let cost = self.of_join(a, b);
                if found.is_none_or(|(least, ..)| cost < least) {
                    found = Some((cost, left, right));
                }
            }
            let (_, left, right) = found?;
            let right = trees.remove(right);
            let left = trees.remove(left);
            trees.push(Tree::join(left, right));
        }
        trees.pop()
    }

    fn smaller_first(&self, tree: Tree) -> Tree {
        match tree {
            Tree::Part(_) => tree,
            Tree::Join(left, right) => {
                let swap = self.rows(right.parts()) < self.rows(left.parts());
                let (first, second) = if swap { (right, left) } else { (left, right) };
                Tree::join(self.smaller_first(*first), self.smaller_first(*second))
            }
        }
    }
}

fn each(parts: Parts) -> impl Iterator<Item = usize> {
    (0..Parts::BITS as usize).filter(move |index| parts & (1 << index) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(rows: f64) -> Part {
        Part { rows, remote: true }
    }

    fn local(rows: f64) -> Part {
        Part { rows, remote: false }
    }

    fn key(left: usize, right: usize, distinct: (f64, f64)) -> Link {
        Link::Key { left: 1 << left, right: 1 << right, distinct: (Some(distinct.0), Some(distinct.1)) }
    }

    fn words(tree: &Tree) -> String {
        match tree {
            Tree::Part(index) => index.to_string(),
            Tree::Join(left, right) => format!("({} {})", words(left), words(right)),
        }
    }

    #[test]
    fn the_small_one_comes_first_and_narrows_the_rest() {
        // Written: a million orders with a million payments, then ten customers.
        let parts = [remote(1e6), remote(1e6), local(10.0)];
        let links = [key(0, 1, (1e6, 1e6)), key(0, 2, (1e5, 10.0))];
        assert_eq!(words(&best(&parts, &links).unwrap()), "((2 0) 1)");
    }

    #[test]
    fn the_written_order_stays_where_no_other_is_better() {
        let parts = [local(10.0), remote(1e6), remote(1e6)];
        let links = [key(0, 1, (10.0, 1e5)), key(1, 2, (1e6, 1e6))];
        assert_eq!(words(&best(&parts, &links).unwrap()), "((0 1) 2)");
        // Of parts alike the order is that of the question.
        let parts = [remote(100.0); 4];
        let links = [key(0, 1, (100.0, 100.0)), key(1, 2, (100.0, 100.0)), key(2, 3, (100.0, 100.0))];
        assert_eq!(words(&best(&parts, &links).unwrap()), "(((0 1) 2) 3)");
    }

    #[test]
    fn parts_are_never_multiplied_when_keys_lead_around() {
        // 1 and 2 are tiny, and only 0 knows both.
        let parts = [local(1e6), remote(5.0), remote(5.0)];
        let links = [key(0, 1, (100.0, 5.0)), key(0, 2, (100.0, 5.0))];
        let tree = best(&parts, &links).unwrap();
        assert!(["(1 (2 0))", "(2 (1 0))"].contains(&words(&tree).as_str()), "{}", words(&tree));
        assert_eq!(best(&parts, &links[..1]), None, "no key leads to the last one");
    }

    #[test]
    fn several_columns_together_are_no_more_different_than_there_are_rows() {
        let parts = [local(6e6), local(8e5), local(1e4)];
        let links = [key(0, 1, (2e5, 2e5)), key(0, 1, (1e4, 1e4)), key(0, 2, (1e4, 1e4))];
        let costs = Costs::new(&parts, &links);
        assert!((costs.rows(0b011) / 8e5 - 1.0).abs() < 1e-9, "6e6 * 8e5 / 6e6: {}", costs.rows(0b011));
        assert!((costs.rows(0b101) / 6e6 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn many_parts_are_ordered_too_and_always_alike() {
        let parts: Vec<Part> = (0..12).map(|index| if index == 11 { local(5.0) } else { remote(1e5 + f64::from(index)) }).collect();
        let links: Vec<Link> = (0..11).map(|index| key(index, index + 1, (1e5, if index == 10 { 5.0 } else { 1e5 }))).collect();
        let tree = best(&parts, &links).unwrap();
        assert!(words(&tree).contains("(11 10)"), "{}", words(&tree));
        assert_eq!(tree, best(&parts, &links).unwrap());
        assert_eq!(tree.parts(), (1 << 12) - 1);
    }

    #[test]
    fn eight_parts_take_no_time() {
        let parts: Vec<Part> = (0..8).map(|index| remote(10f64.powi(index))).collect();
        let links: Vec<Link> = (0..8).flat_map(|a| (a + 1..8).map(move |b| key(a, b, (10f64.powi(a as i32), 10f64.powi(b as i32))))).collect();
        let began = std::time::Instant::now();
        assert!(best(&parts, &links).is_some());
        assert!(began.elapsed() < std::time::Duration::from_millis(500), "{:?} without optimization", began.elapsed());
    }
}
