// SPDX-License-Identifier: Apache-2.0
//! Three stages in a row, the same for questions, explanations and writes: secure, route, push down.

use crate::bind::Bound;
use crate::residual::{self, Physical};
use crate::session::PlanningSession;
use crate::{route, secure, sizes};
use weir_base::Result;
use weir_policy::Authorized;

/// From a bound plan to one that can be admitted.
pub(crate) async fn plan(planning: &PlanningSession<'_>, bound: Bound) -> Result<Authorized<Physical>> {
    staged(planning, bound, false).await
}

/// The same plan, with what sources have counted also where nothing is decided by it: to be told.
pub(crate) async fn plan_to_tell(planning: &PlanningSession<'_>, bound: Bound) -> Result<Authorized<Physical>> {
    staged(planning, bound, true).await
}

async fn staged(planning: &PlanningSession<'_>, bound: Bound, told: bool) -> Result<Authorized<Physical>> {
    let parts = &planning.engine.parts;
    let authorized = secure::secure(bound, planning.principal)?;
    let settings = planning.session.settings().clone();
    route::route(&authorized.plan().tables, &settings, parts.clock.now())?;
    sizes::learn(&authorized.plan().plan, told).await;
    residual::plan(authorized, planning.pushdown, parts.config.memory_bytes_max).await
}
