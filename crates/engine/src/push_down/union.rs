// SPDX-License-Identifier: Apache-2.0
//! UNION ALL of parts that one source answers: one statement. Parts of other places, or made here, stand beside it.

use super::block::Block;
use super::cut::{Aliases, Cutter, Piece, leaf, note};
use super::fragment::{as_kept, may_push};
use datafusion::common::{DFSchemaRef, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::logical_expr::logical_plan::Union;
use std::sync::Arc;
use weir_source::{Reason, Term};

/// The blocks as one, or why not.
pub(super) fn united(arms: Vec<Block>, schema: &DFSchemaRef, aliases: &mut Aliases) -> Result<Block, Reason> {
    let arms: Vec<Block> = arms.into_iter().map(|arm| if arm.limit().is_some() { arm.wrap(&aliases.derived()) } else { arm }).collect();
    let terms: Vec<Vec<Term>> = arms.iter().map(Block::terms).collect();
    let mut columns: Vec<Vec<Term>> = vec![Vec::with_capacity(schema.fields().len()); arms.len()];
    for index in 0..schema.fields().len() {
        let values: Vec<&Term> = terms.iter().map(|terms| &terms[index]).collect();
        if values.iter().any(|value| value.meaning.degraded.is_some()) {
            return Err(Reason::new("degraded", "a column of it cannot be read"));
        }
        let nullable = values.iter().any(|value| value.meaning.nullable);
        for (mut term, column) in arms[0].source().arms(&values)?.into_iter().zip(&mut columns) {
            term.meaning.nullable = nullable;
            column.push(term);
        }
    }
    let mixed = || Reason::new("arms", "its parts cannot be put together");
    Block::of_arms(arms, &columns, schema.clone(), &aliases.derived()).ok_or_else(mixed)
}

pub(super) fn union_words(union: &Union) -> String {
    let columns: Vec<&str> = union.schema.fields().iter().map(|field| field.name().as_str()).collect();
    format!("union all of {} parts: {}", union.inputs.len(), columns.join(", "))
}

impl Cutter {
    /// Arms of one source become one statement, wherever they stand between the others.
    pub(super) fn union(&mut self, union: Union) -> Result<Piece> {
        let what = union_words(&union);
        let Union { inputs, schema } = union;
        let mut pieces: Vec<Piece> = inputs.into_iter().map(|input| self.piece(Arc::unwrap_or_clone(input))).collect::<Result<_>>()?;
        let mut done = Vec::new();
        let mut kept = Vec::new();
        while !pieces.is_empty() {
            let first = pieces.remove(0);
            let Piece::Remote { block, .. } = &first else {
                done.push(self.finished(first)?);
                continue;
            };
            let beside = |piece: &Piece| matches!(piece, Piece::Remote { block: other, .. } if Arc::ptr_eq(&other.handle, &block.handle));
            let (same, others): (Vec<Piece>, Vec<Piece>) = std::mem::take(&mut pieces).into_iter().partition(beside);
            pieces = others;
            if same.is_empty() {
                done.push(self.finished(first)?);
                continue;
            }
            let arms: Vec<Piece> = std::iter::once(first).chain(same).collect();
            let blocks = arms.iter().filter_map(|piece| if let Piece::Remote { block, .. } = piece { Some(block.as_ref().clone()) } else { None }).collect();
            match may_push(self.mode, &what).and_then(|()| united(blocks, &schema, &mut self.aliases)) {
                Ok(mut block) => {
                    block.pushed.push(what.clone());
                    if done.is_empty() && pieces.is_empty() {
                        return Ok(Piece::Remote { block: Box::new(block), plain: None });
                    }
                    done.push(leaf(&block)?);
                }
                Err(reason) => {
                    kept.push(reason);
                    arms.into_iter().try_for_each(|arm| self.finished(arm).map(|arm| done.push(arm)))?;
                }
            }
        }
        let others = || Reason::new("two_sources", "its parts are in several places, or made here");
        let plan = if done.len() == 1 { done.remove(0) } else { LogicalPlan::Union(Union { inputs: done.into_iter().map(Arc::new).collect(), schema }) };
        let reason = kept.pop().unwrap_or_else(others);
        note(&plan, &as_kept(what, reason));
        Ok(Piece::Local(plan))
    }
}
