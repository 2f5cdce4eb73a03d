//! What the coordinator's work costs: it is counted while it is simulated, and a profile says what each operation takes.
//! Nothing here is timed.

mod counts;
pub mod heap;
mod operation;
mod profile;
mod threads;

pub use counts::{Counts, Trigger};
pub use operation::Operation;
pub use profile::{Profile, Shares};
pub use threads::{BrokerThreads, Jobs, Tenure, Threads, Waiting, serve};
