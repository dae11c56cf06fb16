// SPDX-License-Identifier: Apache-2.0
//! A statement over several tables or groups of a source, in the place of the part of a plan that it answers.

use super::notes::Notes;
use super::source::SourceScan;
use crate::discovery::SourceHandle;
use crate::push_down::Fragment;
use crate::sizes::Size;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Result, Statistics};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// A leaf of a plan that was cut. The optimizer has been there before, so nothing more is asked of it than to be read.
#[derive(Debug)]
pub(crate) struct RemoteTable {
    pub handle: Arc<SourceHandle>,
    pub fragment: Fragment,
    pub schema: SchemaRef,
    pub size: Option<Size>,
    pub notes: Notes,
}

impl RemoteTable {
    fn counted(&self) -> Statistics {
        self.size.as_ref().map_or_else(|| Statistics::new_unknown(&self.schema), |size| size.statistics(&self.schema))
    }
}

#[async_trait]
impl TableProvider for RemoteTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    fn statistics(&self) -> Option<Statistics> {
        Some(self.counted())
    }

    async fn scan(&self, _: &dyn Session, _: Option<&Vec<usize>>, _: &[Expr], _: Option<usize>) -> Result<Arc<dyn ExecutionPlan>> {
        let mut fragment = self.fragment.clone();
        fragment.kept.extend(self.notes.all());
        Ok(Arc::new(SourceScan::new(self.handle.clone(), fragment, self.schema.clone(), self.counted())))
    }
}
