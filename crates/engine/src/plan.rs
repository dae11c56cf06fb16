// SPDX-License-Identifier: Apache-2.0
//! Three stages in a row, the same for questions, explanations and writes: secure, route, push down.

use crate::bind::Bound;
use crate::residual::{self, Physical};
use crate::session::PlanningSession;
use crate::{route, secure};
use weir_base::Result;
use weir_policy::Authorized;

/// From a bound plan to one that can be admitted.
pub(crate) async fn plan(planning: &PlanningSession<'_>, bound: Bound) -> Result<Authorized<Physical>> {
    let parts = &planning.engine.parts;
    let authorized = secure::secure(bound, planning.principal)?;
    let settings = planning.session.settings().clone();
    route::route(&authorized.plan().tables, &settings, parts.clock.now())?;
    residual::plan(authorized, planning.pushdown, parts.config.memory_bytes_max).await
}
