// SPDX-License-Identifier: Apache-2.0
//! `Authorized<P>`: a plan that was decided on. `engine::execute` takes nothing else.

use crate::Action;
use weir_base::{Priority, TableName, UserName};

/// One thing that a plan wants to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    pub action: Action,
    pub table: TableName,
}

/// The outcome "yes" of `Principal::decide`; there is no other way to get one.
#[derive(Debug)]
pub struct Decision {
    user: UserName,
    priority: Priority,
}

impl Decision {
    pub(crate) fn made(user: UserName, priority: Priority) -> Self {
        Self { user, priority }
    }
}

/// A plan together with the proof that somebody may run it.
#[derive(Debug)]
pub struct Authorized<P> {
    plan: P,
    user: UserName,
    priority: Priority,
}

impl<P> Authorized<P> {
    pub fn new(plan: P, decision: Decision) -> Self {
        Self { plan, user: decision.user, priority: decision.priority }
    }

    pub fn plan(&self) -> &P {
        &self.plan
    }

    pub fn user(&self) -> &UserName {
        &self.user
    }

    /// How much it matters beside others that wait for the same source.
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// The same authority over what an optimizer made of the plan. It may only narrow what is read.
    pub fn map<Q, E>(self, rewrite: impl FnOnce(P) -> Result<Q, E>) -> Result<Authorized<Q>, E> {
        Ok(Authorized { plan: rewrite(self.plan)?, user: self.user, priority: self.priority })
    }
}
