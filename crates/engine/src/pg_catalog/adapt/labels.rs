// SPDX-License-Identifier: Apache-2.0
//! What Postgres calls a column without an alias.

use super::{folded, last};
use datafusion::sql::sqlparser::ast::{Expr, SelectItem, SetExpr};

/// The name that Postgres would give, where it would give one.
pub(super) fn label_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(folded(ident)),
        Expr::CompoundIdentifier(idents) => idents.last().map(folded),
        Expr::Function(function) => last(&function.name).map(|ident| ident.value.to_lowercase()),
        Expr::Cast { expr, .. } | Expr::Nested(expr) => label_of(expr),
        Expr::Case { .. } => Some("case".into()),
        Expr::Exists { .. } => Some("exists".into()),
        Expr::Subquery(query) => match query.body.as_ref() {
            SetExpr::Select(select) => match select.projection.as_slice() {
                [SelectItem::UnnamedExpr(expr)] => label_of(expr),
                [SelectItem::ExprWithAlias { alias, .. }] => Some(folded(alias)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
