//! What can be wrong with metadata files.

use crate::cluster::ChangeError;
use crate::kafka::batch::BatchError;
use std::path::PathBuf;

/// Something wrong with the files of a cluster's metadata.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// A file that cannot be read, or whose name says that it is something else.
    #[error("{}: {message}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// Bytes that are no record batch.
    #[error("{}: {error}", file.display())]
    Batch {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        error: BatchError,
    },
    /// A record that cannot be read, or that does not fit what is before it.
    #[error("{place}: {message}")]
    Record {
        /// Where it is.
        place: Place,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// Records that are in none of the files.
    #[error(
        "offsets {from} to {to} are missing before {}: give the segment that holds them, or a snapshot (*.checkpoint) \
         of offset {} or later and no segment from before the gap",
        before.display(),
        to + 1
    )]
    Gap {
        /// The first offset that is missing.
        from: i64,
        /// The last one.
        to: i64,
        /// The file whose records come next.
        before: PathBuf,
    },
    /// Records that cannot be applied to the cluster as it was.
    #[error("image of offset {offset}: {error}")]
    Image {
        /// The image's last offset.
        offset: i64,
        /// What is wrong.
        error: ChangeError,
    },
    /// No files to start from.
    #[error("no metadata: give the segments (*.log) from offset 0 on, or a snapshot (*.checkpoint)")]
    Nothing,
    /// Records that were stepped over; only told together with other errors, of which it may be the cause.
    #[error("records of a type or version that is not known here were skipped, which may be why: {0}")]
    Skipped(String),
}

/// Where a record is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The record's offset: of the log, or in a snapshot its number from 0.
    pub offset: i64,
    /// Where in the file the record's value begins, or the byte of it that is wrong.
    pub byte: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: offset {}, byte {}", self.file.display(), self.offset, self.byte)
    }
}
