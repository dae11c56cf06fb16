// SPDX-License-Identifier: Apache-2.0
//! Dates, times and instants as PostgreSQL means them: texts are read and clocks are shown in the session's zone.

mod at_zone;
mod coalesce;
mod convert;
mod days;
mod infinite;
mod meet;
mod pattern;
mod read;
mod rule;
mod shift;
mod show;
mod to_char;
mod whole_days;
mod zone;

pub(crate) use at_zone::TIMEZONE;
pub(crate) use whole_days::WholeDays;
pub(crate) use zone::Zone;

use crate::errors::from_datafusion;
use arrow::datatypes::DataType;
use convert::Convert;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Result as PlanResult, ScalarValue};
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::{Expr, ScalarUDF};
use std::sync::Arc;
use weir_base::Result;

/// Adds the rule that reads texts and casts as PostgreSQL does, and `timezone`.
pub(crate) fn register(state: &mut SessionState) -> Result<()> {
    state.register_function_rewrite(Arc::new(crate::meeting::CastsAsInPostgres)).map_err(from_datafusion)?;
    state.register_function_rewrite(Arc::new(infinite::InfiniteBounds)).map_err(from_datafusion)?;
    state.register_function_rewrite(Arc::new(meet::MeetTimestamps)).map_err(from_datafusion)?;
    state.add_analyzer_rule(Arc::new(rule::ReadMoments));
    state.register_function_rewrite(Arc::new(days::DaysAsMidnights)).map_err(from_datafusion)?;
    let inner = state.udf("coalesce").map_err(from_datafusion)?;
    state.register_udf(Arc::new(ScalarUDF::from(coalesce::Coalesce { inner }))).map_err(from_datafusion)?;
    state.register_udf(Arc::new(ScalarUDF::from(at_zone::AtZone::new()))).map_err(from_datafusion)?;
    Ok(())
}

/// A value cast in a zone; `None` when the cast is not one of dates and times.
pub(crate) fn cast_value(value: &ScalarValue, to: &DataType, zone: &str) -> Result<Option<ScalarValue>> {
    let convert = Convert::between(&value.data_type(), to, &zone.into(), false)?;
    convert.map(|convert| convert.value(value).map_err(from_datafusion)).transpose()
}

/// The expression as it was written, for EXPLAIN: with casts in place of the functions.
pub(crate) fn plain(expr: Expr) -> PlanResult<Expr> {
    expr.transform_up(|node| {
        let cast = written(&node);
        Ok(cast.map_or_else(|| Transformed::no(node), Transformed::yes))
    })
    .data()
}

fn written(node: &Expr) -> Option<Expr> {
    if let Expr::Literal(value, _) = node {
        return infinite::shown(value).map(|text| Expr::Literal(ScalarValue::from(text), None));
    }
    let Expr::ScalarFunction(function) = node else { return None };
    let convert = (function.func.inner().as_ref() as &dyn std::any::Any).downcast_ref::<Convert>()?;
    let inner = Box::new(function.args.first()?.clone());
    let (to, tries) = convert.target();
    Some(if tries { Expr::TryCast(TryCast::new(inner, to.clone())) } else { Expr::Cast(Cast::new(inner, to.clone())) })
}
