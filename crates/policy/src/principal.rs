// SPDX-License-Identifier: Apache-2.0
//! Principals: a logged-in user with the roles and grants that hold for this moment.

use crate::{Access, Action, Decision, Grant};
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Priority, Result, TableName, UserName};

/// A role as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    pub name: String,
    pub grants: Vec<Grant>,
    /// How much the queries of its users matter beside others'.
    pub priority: Priority,
}

/// All users and roles. With `open`, everybody may do everything (loopback examples and tests only).
#[derive(Debug, Clone, Default)]
pub struct Policy {
    open: bool,
    users: BTreeMap<UserName, Vec<Arc<Role>>>,
}

impl Policy {
    /// Everyone has every right.
    pub fn open() -> Self {
        Self { open: true, users: BTreeMap::new() }
    }

    /// Users with their roles; a user without a role may do nothing.
    pub fn closed(users: impl IntoIterator<Item = (UserName, Vec<Arc<Role>>)>) -> Self {
        Self { open: false, users: users.into_iter().collect() }
    }

    /// The principal that a logged-in user is. Error: 42501 for a user nobody configured.
    pub fn principal(&self, user: &UserName) -> Result<Principal> {
        if self.open {
            return Ok(Principal { user: user.clone(), open: true, roles: Vec::new() });
        }
        let roles = self.users.get(user).cloned();
        roles
            .map(|roles| Principal { user: user.clone(), open: false, roles })
            .ok_or_else(|| Error::new(ErrorCode::Forbidden, format!("user {user} is not configured")).with_hint("add the user to `users` in weir.yaml"))
    }
}

/// Somebody with rights. Made by `Policy` alone.
#[derive(Debug, Clone)]
pub struct Principal {
    user: UserName,
    open: bool,
    roles: Vec<Arc<Role>>,
}

impl Principal {
    pub fn user(&self) -> &UserName {
        &self.user
    }

    /// Every right on everything, cancelling others' queries included.
    pub fn unrestricted(&self) -> bool {
        self.open
    }

    pub fn role_names(&self) -> Vec<String> {
        self.roles.iter().map(|role| role.name.clone()).collect()
    }

    /// The highest of the user's roles.
    pub fn priority(&self) -> Priority {
        self.roles.iter().map(|role| role.priority).max().unwrap_or_default()
    }

    /// Whether a grant of any role allows the action. The `system` schema may be read by everyone: its rows are filtered.
    pub fn may(&self, action: Action, table: &TableName) -> bool {
        let system = action == Action::Select && table.source.as_str() == "system";
        self.open || system || self.grants().any(|grant| grant.allow.contains(&action) && grant.on.matches(table))
    }

    /// Whether the table may be seen at all, in lists and in error messages.
    pub fn may_see(&self, table: &TableName) -> bool {
        Action::ALL.into_iter().any(|action| self.may(action, table))
    }

    /// Whether a schema may be created or dropped: a grant must reach into it.
    pub fn may_in_schema(&self, action: Action, source: &str, schema: &str) -> bool {
        self.open || self.grants().any(|grant| grant.allow.contains(&action) && grant.on.touches_schema(source, schema))
    }

    /// Whether any grant reaches into a source or the lake.
    pub fn may_reach(&self, source: &str) -> bool {
        self.open || self.grants().any(|grant| grant.on.touches_source(source))
    }

    /// Decides on everything that a plan wants to touch. Error: 42501, naming the first thing that is not allowed.
    pub fn decide(&self, accesses: &[Access]) -> Result<Decision> {
        match accesses.iter().find(|access| !self.may(access.action, &access.table)) {
            Some(denied) => Err(self.denied(denied)),
            None => Ok(Decision::made(self.user.clone(), self.priority())),
        }
    }

    /// Decides on something that is not for everyone even where it is in the `system` schema: a grant has to name it.
    /// Error: 42501.
    pub fn decide_granted(&self, access: &Access) -> Result<()> {
        let granted = self.open || self.grants().any(|grant| grant.allow.contains(&access.action) && grant.on.matches(&access.table));
        if granted { Ok(()) } else { Err(self.denied(access)) }
    }

    fn grants(&self) -> impl Iterator<Item = &Grant> {
        self.roles.iter().flat_map(|role| role.grants.iter())
    }

    fn denied(&self, access: &Access) -> Error {
        let roles = if self.roles.is_empty() { "no role".to_owned() } else { self.role_names().join(", ") };
        Error::new(ErrorCode::Forbidden, format!("no right to {} {}", access.action.word(), access.table))
            .with_detail(format!("user {} has {roles}", self.user))
            .with_hint("ask for a grant in `roles` of weir.yaml")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn analyst() -> Principal {
        let grant = Grant { on: "app_pg.public.*".parse().unwrap(), allow: vec![Action::Select] };
        let role = Arc::new(Role { name: "analyst".into(), grants: vec![grant], priority: Priority::High });
        let policy = Policy::closed([(UserName::new("ana"), vec![role])]);
        policy.principal(&UserName::new("ana")).unwrap()
    }

    #[test]
    fn what_is_not_granted_is_denied() {
        let table = TableName::new("app_pg", "public", "customers");
        let select = Access { action: Action::Select, table: table.clone() };
        assert!(analyst().decide(std::slice::from_ref(&select)).is_ok());
        let insert = Access { action: Action::Insert, table };
        let error = analyst().decide(&[select, insert]).unwrap_err();
        assert_eq!(error.message(), "no right to insert app_pg.public.customers");
        assert_eq!(error.code(), ErrorCode::Forbidden);
    }

    #[test]
    fn what_is_about_everybody_needs_a_grant_of_its_own() {
        let metrics = Access { action: Action::Select, table: TableName::new("system", "system", "metrics") };
        assert!(analyst().may(Action::Select, &metrics.table));
        assert_eq!(analyst().decide_granted(&metrics).unwrap_err().message(), "no right to select system.system.metrics");
        for on in ["system.system.metrics", "*.*.*"] {
            let role = Arc::new(Role {
                name: "operator".into(),
                grants: vec![Grant { on: on.parse().unwrap(), allow: vec![Action::Select] }],
                priority: Priority::Normal,
            });
            let operator = Policy::closed([(UserName::new("prom"), vec![role])]).principal(&UserName::new("prom")).unwrap();
            assert!(operator.decide_granted(&metrics).is_ok(), "{on}");
        }
        assert!(Policy::open().principal(&UserName::new("eve")).unwrap().decide_granted(&metrics).is_ok());
    }

    #[test]
    fn the_highest_role_says_how_much_a_query_matters() {
        assert_eq!(analyst().priority(), Priority::High);
        let role = |name: &str, priority| Arc::new(Role { name: name.into(), grants: Vec::new(), priority });
        let both = Policy::closed([(UserName::new("bob"), vec![role("low", Priority::Low), role("normal", Priority::Normal)])]);
        assert_eq!(both.principal(&UserName::new("bob")).unwrap().priority(), Priority::Normal);
        assert_eq!(Policy::open().principal(&UserName::new("eve")).unwrap().priority(), Priority::Normal);
    }

    #[test]
    fn unknown_users_are_nobody() {
        assert!(Policy::closed([]).principal(&UserName::new("eve")).is_err());
        assert!(Policy::open().principal(&UserName::new("eve")).is_ok());
    }
}
