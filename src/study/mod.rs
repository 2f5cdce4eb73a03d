//! Studies: many runs that belong together. The plan says which; each run has an id that is the hash of what makes it; a folder
//! keeps the runs that are done, whatever happens to the program, and gives one table of all of them.

mod folder;
mod plan;

pub use folder::{Folder, FolderError};
pub use plan::{Plan, PlanError, Run, run_id};
