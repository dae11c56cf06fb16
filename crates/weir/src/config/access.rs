// SPDX-License-Identifier: Apache-2.0
//! Logins, users and roles of a configuration.

use crate::config::problem::{Findings, did_you_mean};
use crate::config::raw::{RawAction, RawAuth, RawAuthMode, RawGrant, RawPriority, RawRole, RawUser};
use crate::config::resolved::{Login, Secret, User};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use weir_base::{Priority, UserName};
use weir_policy::{Action, Grant, Policy, Role};
use weir_server::Verifier;

/// `catalogs` are the first parts that a grant can name: sources and the lake.
pub(crate) fn resolve_access(
    auth: RawAuth,
    users: Option<Vec<RawUser>>,
    roles: Option<Vec<RawRole>>,
    catalogs: &[&str],
    findings: &mut Findings,
) -> (Login, Policy) {
    if auth.tokens.is_some() {
        findings.problem("auth.tokens", "is not in this version yet; use users with passwords");
    }
    let roles = resolve_roles(roles.unwrap_or_default(), catalogs, findings);
    let open = auth.mode == Some(RawAuthMode::Open);
    if open && users.as_ref().is_some_and(|users| !users.is_empty()) {
        findings.note("users are not used with `auth: { mode: open }`: everyone is `local` with every right");
    }
    let users = resolve_users(users.unwrap_or_default(), &roles, findings);
    if open {
        return (Login::Open, Policy::open());
    }
    if users.is_empty() {
        findings.note("no users are configured, so nobody can log in; add `users`, or `auth: { mode: open }` for a trial on this machine");
    }
    let policy = Policy::closed(users.iter().map(|(user, roles)| (user.name.clone(), roles.clone())));
    (Login::Scram(users.into_iter().map(|(user, _)| user).collect()), policy)
}

fn resolve_roles(raw: Vec<RawRole>, catalogs: &[&str], findings: &mut Findings) -> BTreeMap<String, Arc<Role>> {
    let mut roles = BTreeMap::new();
    for (index, role) in raw.into_iter().enumerate() {
        let key = format!("roles[{index}]");
        findings.accept(&format!("{key}.name"), check_login_name(&role.name));
        let mut grants = Vec::new();
        for (index, grant) in role.grants.unwrap_or_default().into_iter().enumerate() {
            grants.extend(resolve_grant(grant, &format!("{key}.grants[{index}]"), catalogs, findings));
        }
        let priority = match role.priority {
            Some(RawPriority::Low) => Priority::Low,
            Some(RawPriority::High) => Priority::High,
            Some(RawPriority::Normal) | None => Priority::Normal,
        };
        let resolved = Arc::new(Role { name: role.name.clone(), grants, priority });
        if roles.insert(role.name, resolved).is_some() {
            findings.problem(&format!("{key}.name"), "is the name of an earlier role too");
        }
    }
    roles
}

fn resolve_grant(raw: RawGrant, key: &str, catalogs: &[&str], findings: &mut Findings) -> Option<Grant> {
    if raw.allow.is_empty() {
        findings.problem(&format!("{key}.allow"), "is empty; name at least one action");
    }
    let on = findings.accept(&format!("{key}.on"), raw.on.parse())?;
    let first = raw.on.split('.').next().unwrap_or_default();
    let known = || catalogs.iter().copied().chain(["system"]);
    if !first.contains('*') && !known().any(|name| name == first) {
        findings.problem(&format!("{key}.on"), format!("names no source and not the lake: {first}{}", did_you_mean(first, known())));
    }
    Some(Grant { on, allow: raw.allow.into_iter().map(action).collect() })
}

fn action(raw: RawAction) -> Action {
    match raw {
        RawAction::Select => Action::Select,
        RawAction::Insert => Action::Insert,
        RawAction::Update => Action::Update,
        RawAction::Delete => Action::Delete,
        RawAction::Create => Action::Create,
        RawAction::Drop => Action::Drop,
    }
}

fn resolve_users(raw: Vec<RawUser>, roles: &BTreeMap<String, Arc<Role>>, findings: &mut Findings) -> Vec<(User, Vec<Arc<Role>>)> {
    let mut seen = BTreeSet::new();
    let mut users = Vec::new();
    for (index, user) in raw.into_iter().enumerate() {
        let key = format!("users[{index}]");
        findings.accept(&format!("{key}.name"), check_login_name(&user.name));
        if !seen.insert(user.name.clone()) {
            findings.problem(&format!("{key}.name"), "is the name of an earlier user too");
        }
        let granted = resolve_user_roles(user.roles.unwrap_or_default(), roles, &key, findings);
        let secret = resolve_secret(user.password, user.password_scram, &key, findings);
        users.extend(secret.map(|secret| (User { name: UserName::new(user.name), secret }, granted)));
    }
    users
}

fn resolve_user_roles(names: Vec<String>, roles: &BTreeMap<String, Arc<Role>>, key: &str, findings: &mut Findings) -> Vec<Arc<Role>> {
    let mut granted = Vec::new();
    for (index, name) in names.iter().enumerate() {
        match roles.get(name) {
            Some(role) => granted.push(role.clone()),
            None => {
                let near = did_you_mean(name, roles.keys().map(String::as_str));
                let known: Vec<&str> = roles.keys().map(String::as_str).collect();
                let hint = match (near.is_empty(), known.is_empty()) {
                    (false, _) => near,
                    (true, false) => format!("; there are {}", known.join(", ")),
                    (true, true) => "; there are none: add `roles`".to_owned(),
                };
                findings.problem(&format!("{key}.roles[{index}]"), format!("names no role: {name}{hint}"));
            }
        }
    }
    granted
}

fn resolve_secret(password: Option<String>, verifier: Option<String>, key: &str, findings: &mut Findings) -> Option<Secret> {
    match (password, verifier) {
        (Some(password), None) if password.is_empty() => {
            findings.problem(&format!("{key}.password"), "is empty");
            None
        }
        (Some(password), None) => Some(Secret::Password(password)),
        (None, Some(verifier)) if Verifier::parse(&verifier).is_some() => Some(Secret::Verifier(verifier)),
        (None, Some(_)) => {
            findings.problem(&format!("{key}.password_scram"), "is not a verifier; `weir password` prints one: SCRAM-SHA-256$4096:…");
            None
        }
        (Some(_), Some(_)) => {
            findings.problem(&format!("{key}.password_scram"), "stands beside password; keep one of them");
            None
        }
        (None, None) => {
            findings.problem(key, "has no password; give password (best as ${NAME}) or password_scram (from `weir password`)");
            None
        }
    }
}

fn check_login_name(name: &str) -> Result<(), String> {
    let fine = !name.is_empty() && name.len() <= 63 && !name.chars().any(char::is_control) && name.trim() == name;
    if fine { Ok(()) } else { Err("is not a name; write 1 to 63 characters without blanks around them".into()) }
}
