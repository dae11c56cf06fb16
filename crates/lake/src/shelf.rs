// SPDX-License-Identifier: Apache-2.0
//! A small cache for things that never change under their name (metadata files, manifests, footers): oldest out when too heavy.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Values by name, each with a weight, all together at most `weight_max`.
#[derive(Debug)]
pub(crate) struct Shelf<V> {
    weight_max: usize,
    state: Mutex<State<V>>,
}

#[derive(Debug)]
struct State<V> {
    values: HashMap<String, (Arc<V>, usize)>,
    order: VecDeque<String>,
    weight: usize,
}

impl<V> Shelf<V> {
    pub(crate) fn new(weight_max: usize) -> Self {
        Self { weight_max, state: Mutex::new(State { values: HashMap::new(), order: VecDeque::new(), weight: 0 }) }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<V>> {
        self.lock().values.get(name).map(|(value, _)| value.clone())
    }

    /// Keeps the first value under a name; a second load of the same thing yields the first.
    pub(crate) fn put(&self, name: &str, value: V, weight: usize) -> Arc<V> {
        let mut state = self.lock();
        if let Some((present, _)) = state.values.get(name) {
            return present.clone();
        }
        let value = Arc::new(value);
        state.values.insert(name.to_owned(), (value.clone(), weight));
        state.order.push_back(name.to_owned());
        state.weight += weight;
        while state.weight > self.weight_max && state.order.len() > 1 {
            state.drop_oldest();
        }
        value
    }

    fn lock(&self) -> MutexGuard<'_, State<V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> State<V> {
    fn drop_oldest(&mut self) {
        let Some(oldest) = self.order.pop_front() else { return };
        if let Some((_, weight)) = self.values.remove(&oldest) {
            self.weight -= weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_when_it_gets_too_heavy() {
        let shelf = Shelf::new(10);
        shelf.put("a", 1, 6);
        shelf.put("b", 2, 3);
        shelf.put("c", 3, 5);
        assert_eq!(shelf.get("a"), None);
        assert_eq!(shelf.get("b").as_deref(), Some(&2));
        assert_eq!(*shelf.put("b", 9, 1), 2);
    }
}
