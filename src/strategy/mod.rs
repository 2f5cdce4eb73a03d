//! Strategies: how a group notices that a subscribed topic changed. A strategy is a point in a small design space
//! (`axes`), and owns what is computed, remembered, compared and stored; nothing else depends on it.

pub mod anew;
pub mod axes;
pub mod seen;

pub use anew::Anew;
pub use axes::{Covers, Design, Forgets, Memo, Stores, Strategy};
pub use seen::{MemoTable, Seen, Work};
