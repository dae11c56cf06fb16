// SPDX-License-Identifier: Apache-2.0
//! How much a request matters beside others that wait for the same source.

/// Higher ones go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Priority {
    /// Refreshes, and who is told to wait for others.
    Low,
    #[default]
    Normal,
    High,
    /// Weir itself: looking whether a source is well, reading its catalog. Short, and others wait for it.
    House,
}

impl Priority {
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::House => "house",
        }
    }
}
