// SPDX-License-Identifier: Apache-2.0
//! How long a plan takes to make: six tables, asked for again and again, so that no source is asked for its own estimate.

use super::ground::Ground;
use crate::figure::{Figure, Measured, Target};
use weir_base::Result;
use weir_sandbox::tpch::PLACEMENTS;

/// Six tables: customer, orders, lineitem, supplier, nation, region.
const QUESTION: usize = 5;
const PLANS: usize = 200;
const MS_PER_SECOND: f64 = 1000.0;

pub async fn measure(ground: &Ground) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for placement in &PLACEMENTS {
        let [sql, _] = ground.asked(placement, QUESTION)?;
        // The first asks the sources.
        ground.weir.plan(&sql).await?;
        let mut seconds = Vec::with_capacity(PLANS);
        for _ in 0..PLANS {
            seconds.push(ground.weir.plan(&sql).await?);
        }
        seconds.sort_by(f64::total_cmp);
        let (middle, late) = (seconds[PLANS / 2] * MS_PER_SECOND, seconds[PLANS * 95 / 100] * MS_PER_SECOND);
        figures.push(Figure::alone(format!("planning six tables, {}: p50", placement.name), Measured::once(middle), "ms", None));
        figures.push(Figure::alone(format!("planning six tables, {}: p95", placement.name), Measured::once(late), "ms", Some(Target::ValueAtMost(20.0))));
    }
    Ok(figures)
}
