// SPDX-License-Identifier: Apache-2.0
//! Secure: asks the policy about everything a bound plan touches and wraps the plan in the proof. Before routing and push-down.

use crate::bind::Bound;
use weir_base::Result;
use weir_policy::{Authorized, Principal};

/// Error: 42501, naming the first table that is not allowed.
pub(crate) fn secure(bound: Bound, principal: &Principal) -> Result<Authorized<Bound>> {
    let decision = principal.decide(&bound.accesses)?;
    Ok(Authorized::new(bound, decision))
}
