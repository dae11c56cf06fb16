// SPDX-License-Identifier: Apache-2.0
//! The seats of one source and the queue for them: a hard cap, who goes next, and where in the queue somebody stands. Fair by user: a user
//! with a hundred queries and one with a single query take turns. Nobody is passed by who needs fewer seats, so nobody starves.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::oneshot;
use weir_base::{Priority, UserName};

/// Who asks for seats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    pub user: UserName,
    pub priority: Priority,
}

impl Asker {
    pub fn new(user: UserName, priority: Priority) -> Self {
        Self { user, priority }
    }

    /// Weir itself.
    pub fn house() -> Self {
        Self { user: UserName::new("weir"), priority: Priority::House }
    }
}

/// The seats of one source.
#[derive(Debug)]
pub(crate) struct Seats {
    table: Mutex<Table>,
}

#[derive(Debug)]
struct Table {
    /// The hard cap.
    most: usize,
    /// How many are given out at present: fewer than `most` while the source suffers.
    allowed: usize,
    /// How many of them one user may hold; everybody else's are not touched by it.
    each: usize,
    taken: usize,
    by_user: BTreeMap<UserName, usize>,
    /// When each user was last given a seat, as a number that grows.
    served: BTreeMap<UserName, u64>,
    waiting: Vec<Waiter>,
    next: u64,
}

#[derive(Debug)]
struct Waiter {
    ticket: u64,
    asker: Asker,
    wanted: usize,
    wake: oneshot::Sender<Vec<Seat>>,
}

/// One session's worth of leave; goes back on drop.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Arc<Seats>,
    user: UserName,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.give_back(&self.user);
    }
}

/// What came of asking.
pub(crate) enum Asked {
    Taken(Vec<Seat>),
    Waits(Place),
    /// So many wait already.
    Full(usize),
}

/// A place in the queue, given up on drop.
#[derive(Debug)]
pub(crate) struct Place {
    seats: Arc<Seats>,
    ticket: u64,
    pub since: Instant,
    pub woken: oneshot::Receiver<Vec<Seat>>,
}

impl Place {
    pub fn position(&self) -> Position {
        self.seats.position(self.ticket)
    }

    pub fn ticket(&self) -> u64 {
        self.ticket
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.seats.leave(self.ticket);
        // Seats that came in the same moment go back by themselves.
        self.woken.close();
    }
}

/// Where somebody stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// 1 goes next; 0 is not waiting any more.
    pub place: usize,
    pub waiting: usize,
    pub taken: usize,
    pub allowed: usize,
    /// Who holds the seats, most first.
    pub holders: Vec<(UserName, usize)>,
}

impl Seats {
    /// `each`: how many seats one user may hold; at least one, and never more than there are.
    pub fn new(most: usize, each: usize) -> Arc<Self> {
        let most = most.max(1);
        let table =
            Table { most, allowed: most, each: each.clamp(1, most), taken: 0, by_user: BTreeMap::new(), served: BTreeMap::new(), waiting: Vec::new(), next: 1 };
        Arc::new(Self { table: Mutex::new(table) })
    }

    /// Takes `wanted` seats together, or a place in the queue, of which there are `waiting_max`.
    pub fn ask(self: &Arc<Self>, asker: &Asker, wanted: usize, waiting_max: usize) -> Asked {
        let mut table = self.lock();
        let wanted = wanted.clamp(1, table.most_of(asker));
        if table.waiting.is_empty() && table.room_for(asker, wanted) {
            return Asked::Taken(self.seat(&mut table, asker, wanted));
        }
        // Who may pass those that wait for others of the same user does not queue behind them.
        if table.waiting.len() >= waiting_max && !table.passes_all(asker, wanted) {
            return Asked::Full(table.waiting.len());
        }
        let ticket = table.next;
        table.next += 1;
        let (wake, woken) = oneshot::channel();
        table.waiting.push(Waiter { ticket, asker: asker.clone(), wanted, wake });
        drop(table);
        self.seat_waiting();
        Asked::Waits(Place { seats: self.clone(), ticket, since: Instant::now(), woken })
    }

    /// One more seat, if it can be had at once and `reserve` stay free; none while anybody waits.
    pub fn spare(self: &Arc<Self>, asker: &Asker, reserve: usize) -> Option<Seat> {
        let mut table = self.lock();
        let free = table.allowed.saturating_sub(table.taken);
        if !table.waiting.is_empty() || free <= reserve || !table.room_for(asker, 1) {
            return None;
        }
        self.seat(&mut table, asker, 1).pop()
    }

    /// How many are given out from now on. Those that are taken stay so until they are given back.
    pub fn allow(self: &Arc<Self>, allowed: usize) {
        let mut table = self.lock();
        table.allowed = allowed.clamp(1, table.most);
        drop(table);
        self.seat_waiting();
    }

    pub fn position(&self, ticket: u64) -> Position {
        let table = self.lock();
        let place = table.order().iter().position(|index| table.waiting[*index].ticket == ticket).map_or(0, |index| index + 1);
        let mut holders: Vec<(UserName, usize)> = table.by_user.iter().map(|(user, seats)| (user.clone(), *seats)).collect();
        holders.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Position { place, waiting: table.waiting.len(), taken: table.taken, allowed: table.allowed, holders }
    }

    /// Seats that are taken, those that are given out at most at present, and how many wait.
    pub fn load(&self) -> (usize, usize, usize) {
        let table = self.lock();
        (table.taken, table.allowed, table.waiting.len())
    }

    fn seat(self: &Arc<Self>, table: &mut Table, asker: &Asker, wanted: usize) -> Vec<Seat> {
        table.taken += wanted;
        *table.by_user.entry(asker.user.clone()).or_default() += wanted;
        let now = table.next;
        table.next += 1;
        table.served.insert(asker.user.clone(), now);
        (0..wanted).map(|_| Seat { seats: self.clone(), user: asker.user.clone() }).collect()
    }

    fn give_back(self: &Arc<Self>, user: &UserName) {
        let mut table = self.lock();
        table.taken = table.taken.saturating_sub(1);
        let left = table.by_user.get_mut(user).map(|seats| {
            *seats = seats.saturating_sub(1);
            *seats
        });
        if left == Some(0) {
            table.by_user.remove(user);
        }
        drop(table);
        self.seat_waiting();
    }

    fn leave(self: &Arc<Self>, ticket: u64) {
        self.lock().waiting.retain(|waiter| waiter.ticket != ticket);
        self.seat_waiting();
    }

    /// Gives seats to whoever goes next, as long as there is room.
    fn seat_waiting(self: &Arc<Self>) {
        // Seats of somebody who left meanwhile come back here, so they are given up outside of the lock.
        loop {
            let mut table = self.lock();
            let Some(index) = table.next_in() else { return };
            let waiter = table.waiting.swap_remove(index);
            let seats = self.seat(&mut table, &waiter.asker, waiter.wanted);
            drop(table);
            drop(waiter.wake.send(seats));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn most_of(&self, asker: &Asker) -> usize {
        if asker.priority == Priority::House { self.most } else { self.each }
    }

    fn held(&self, user: &UserName) -> usize {
        self.by_user.get(user).copied().unwrap_or_default()
    }

    /// Whether the asker may have so many more without regard to others.
    fn entitled(&self, asker: &Asker, wanted: usize) -> bool {
        self.held(&asker.user) + wanted <= self.most_of(asker)
    }

    fn room_for(&self, asker: &Asker, wanted: usize) -> bool {
        // A query that needs more seats than are allowed at present goes when it has the source for itself.
        let fits = self.taken + wanted <= self.allowed || self.taken == 0;
        fits && self.entitled(asker, wanted)
    }

    /// Whether nobody who waits could be seated before the asker.
    fn passes_all(&self, asker: &Asker, wanted: usize) -> bool {
        self.room_for(asker, wanted) && !self.waiting.iter().any(|waiter| self.entitled(&waiter.asker, waiter.wanted))
    }

    /// The waiting, who goes next first: those that matter more, then those whose user holds fewer seats, then those whose user was
    /// served longest ago, then by their coming. Who has all seats that a user may have goes last.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.waiting.len()).collect();
        let key = |index: &usize| {
            let waiter = &self.waiting[*index];
            let user = &waiter.asker.user;
            let ahead = self.waiting.iter().filter(|other| other.asker == waiter.asker && other.ticket < waiter.ticket).count();
            let served = self.served.get(user).copied().unwrap_or_default();
            let entitled = self.entitled(&waiter.asker, waiter.wanted);
            (!entitled, std::cmp::Reverse(waiter.asker.priority), self.held(user) + ahead, if ahead == 0 { served } else { 0 }, waiter.ticket)
        };
        order.sort_by_cached_key(key);
        order
    }

    fn next_in(&self) -> Option<usize> {
        let first = self.order().into_iter().next()?;
        let waiter = &self.waiting[first];
        self.room_for(&waiter.asker, waiter.wanted).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(user: &str, priority: Priority) -> Asker {
        Asker::new(UserName::new(user), priority)
    }

    fn taken(asked: Asked) -> Vec<Seat> {
        match asked {
            Asked::Taken(seats) => seats,
            Asked::Waits(_) => panic!("waits"),
            Asked::Full(waiting) => panic!("full with {waiting}"),
        }
    }

    fn waits(asked: Asked) -> Place {
        match asked {
            Asked::Waits(place) => place,
            _ => panic!("does not wait"),
        }
    }

    #[test]
    fn users_take_turns() {
        let seats = Seats::new(1, 1);
        let ana = asker("ana", Priority::Normal);
        let held = taken(seats.ask(&ana, 1, 9));
        let mut of_ana: Vec<Place> = (0..3).map(|_| waits(seats.ask(&ana, 1, 9))).collect();
        let mut of_bob = waits(seats.ask(&asker("bob", Priority::Normal), 1, 9));
        assert_eq!(of_bob.position().place, 1, "ana holds a seat, bob none");
        assert_eq!(of_ana[2].position(), Position { place: 4, waiting: 4, taken: 1, allowed: 1, holders: vec![(UserName::new("ana"), 1)] });
        drop(held);
        let held = of_bob.woken.try_recv().unwrap();
        let mut of_bob = waits(seats.ask(&asker("bob", Priority::Normal), 1, 9));
        drop(held);
        let held = of_ana[0].woken.try_recv().unwrap();
        assert!(of_bob.woken.try_recv().is_err() && of_ana[1].woken.try_recv().is_err());
        drop(held);
        assert!(of_bob.woken.try_recv().is_ok(), "bob was served longer ago");
    }

    #[test]
    fn what_matters_more_goes_first_and_the_house_before_all() {
        let seats = Seats::new(1, 1);
        let held = taken(seats.ask(&asker("ana", Priority::Normal), 1, 9));
        let mut low = waits(seats.ask(&asker("bob", Priority::Low), 1, 9));
        let mut normal = waits(seats.ask(&asker("cid", Priority::Normal), 1, 9));
        let mut house = waits(seats.ask(&Asker::house(), 1, 9));
        drop(held);
        let held = house.woken.try_recv().unwrap();
        assert!(normal.woken.try_recv().is_err());
        drop(held);
        let held = normal.woken.try_recv().unwrap();
        drop(held);
        assert_eq!(low.woken.try_recv().unwrap().len(), 1);
    }

    #[test]
    fn seats_of_a_query_come_together_and_nobody_is_passed() {
        let seats = Seats::new(3, 3);
        let first = taken(seats.ask(&asker("ana", Priority::Normal), 2, 9));
        let mut pair = waits(seats.ask(&asker("bob", Priority::Normal), 2, 9));
        // One seat is free, and bob's query was here before.
        let mut one = waits(seats.ask(&asker("cid", Priority::Normal), 1, 9));
        assert!(one.woken.try_recv().is_err());
        drop(first);
        assert_eq!(pair.woken.try_recv().unwrap().len(), 2);
        assert_eq!(one.woken.try_recv().unwrap().len(), 1);
        assert_eq!(seats.load(), (0, 3, 0), "and go back when they are dropped");
    }

    #[test]
    fn one_user_does_not_hold_all() {
        let seats = Seats::new(4, 2);
        let ana = asker("ana", Priority::Normal);
        let held = taken(seats.ask(&ana, 9, 9));
        assert_eq!(held.len(), 2);
        let mut third = waits(seats.ask(&ana, 1, 1));
        assert!(third.woken.try_recv().is_err());
        // Others pass who has what a user may have, even when the queue is full of such.
        let mut bob = waits(seats.ask(&asker("bob", Priority::Normal), 2, 1));
        assert_eq!(bob.woken.try_recv().unwrap().len(), 2);
        assert!(matches!(seats.ask(&ana, 1, 1), Asked::Full(1)));
        drop(held);
        assert_eq!(third.woken.try_recv().unwrap().len(), 1);
    }

    #[test]
    fn fewer_are_given_out_while_a_source_suffers() {
        let seats = Seats::new(4, 4);
        let ana = asker("ana", Priority::Normal);
        let held = taken(seats.ask(&ana, 2, 9));
        seats.allow(1);
        let mut place = waits(seats.ask(&ana, 2, 9));
        drop(held);
        // It needs two, and has the source for itself.
        let held = place.woken.try_recv().unwrap();
        assert_eq!((held.len(), seats.load()), (2, (2, 1, 0)));
        let mut place = waits(seats.ask(&ana, 1, 9));
        seats.allow(9);
        assert_eq!(place.woken.try_recv().unwrap().len(), 1);
        assert_eq!(seats.load().1, 4, "the cap is hard");
    }

    #[test]
    fn who_leaves_the_queue_is_not_waited_for() {
        let seats = Seats::new(1, 1);
        let held = taken(seats.ask(&asker("ana", Priority::Normal), 1, 9));
        let gone = waits(seats.ask(&asker("bob", Priority::High), 1, 9));
        let mut stays = waits(seats.ask(&asker("cid", Priority::Normal), 1, 9));
        drop(gone);
        drop(held);
        let held = stays.woken.try_recv().unwrap();
        // Who leaves in the moment of being served gives the seat to the next.
        let served = waits(seats.ask(&asker("dot", Priority::Normal), 1, 9));
        let mut next = waits(seats.ask(&asker("eva", Priority::Normal), 1, 9));
        drop(held);
        assert_eq!(seats.load(), (1, 1, 1));
        drop(served);
        drop(next.woken.try_recv().unwrap());
        assert_eq!(seats.load(), (0, 1, 0));
    }

    #[test]
    fn spare_seats_leave_some_and_never_pass_anybody() {
        let seats = Seats::new(4, 4);
        let ana = asker("ana", Priority::Normal);
        let _one = taken(seats.ask(&ana, 1, 9));
        let more: Vec<Seat> = std::iter::from_fn(|| seats.spare(&ana, 1)).collect();
        assert_eq!((more.len(), seats.load().0), (2, 3));
        let _waiting = waits(seats.ask(&asker("bob", Priority::Normal), 2, 9));
        drop(more);
        assert!(seats.spare(&ana, 0).is_none() || seats.load().2 == 0);
    }
}
