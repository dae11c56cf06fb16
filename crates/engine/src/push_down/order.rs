// SPDX-License-Identifier: Apache-2.0
//! The first rows in an order of ours.

use super::block::Block;
use super::cut::Aliases;
use super::remedy::asked;
use super::terms::value;
use datafusion::logical_expr::SortExpr;
use weir_source::{Operation, Reason, Support};

/// Lets the source return only the first rows; they are sorted again here, where all orders come together.
pub(super) fn first(input: Block, sort: &[SortExpr], rows: usize, aliases: &mut Aliases) -> Result<Block, Reason> {
    let mut block = if input.limit().is_some() { input.wrap(&aliases.derived()) } else { input };
    let terms = block.terms();
    let scope = block.scope(&terms);
    let mut order = Vec::with_capacity(sort.len());
    for key in sort {
        let term = value(&key.expr, scope)?;
        if term.constant {
            continue;
        }
        if let Support::Superset(reason) | Support::Never(reason) = asked(block.source(), &Operation::Order, &term.meaning) {
            return Err(reason);
        }
        order.push(block.source().dialect().order(&term, !key.asc, key.nulls_first));
    }
    block.stop(order, rows);
    Ok(block)
}
