// SPDX-License-Identifier: Apache-2.0
//! Frames of windows over types from which nothing can be subtracted. The query engine has no RANGE over them, though the usual frame asks for
//! no more than which rows are equal; there GROUPS is the same.

use super::kind::{Category, sql_name};
use crate::errors::carry;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{Expr, ExprSchemable, WindowFrame, WindowFrameBound, WindowFrameUnits};
use weir_base::{Error, ErrorCode};

/// Error: 0A000 for a distance between values that have none.
pub(super) fn framed(mut window: Box<WindowFunction>, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let frame = &window.params.window_frame;
    let Some(ordered) = window.params.order_by.first().filter(|_| frame.units == WindowFrameUnits::Range) else { return Ok(unchanged(window)) };
    let Ok(of) = ordered.expr.get_type(schema) else { return Ok(unchanged(window)) };
    let category = Category::of(&of);
    let distance = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::Preceding(value) | WindowFrameBound::Following(value) => !value.is_null(),
        WindowFrameBound::CurrentRow => false,
    };
    let measured = distance(&frame.start_bound) || distance(&frame.end_bound);
    match (category, measured) {
        (Category::Text | Category::Truth | Category::Bytes | Category::List | Category::Time, true) => {
            let message = format!("RANGE with offset PRECEDING/FOLLOWING is not supported for column type {}", sql_name(&of));
            Err(carry(Error::new(ErrorCode::Unsupported, message).with_hint("count rows in its place: ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")))
        }
        (Category::Time | Category::Bytes, false) => {
            let groups = WindowFrame::new_bounds(WindowFrameUnits::Groups, frame.start_bound.clone(), frame.end_bound.clone());
            window.params.window_frame = groups;
            Ok(Transformed::yes(Expr::WindowFunction(window)))
        }
        _ => Ok(unchanged(window)),
    }
}

fn unchanged(window: Box<WindowFunction>) -> Transformed<Expr> {
    Transformed::no(Expr::WindowFunction(window))
}
