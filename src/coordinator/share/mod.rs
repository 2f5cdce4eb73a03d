//! Share groups (KIP-932).

mod group;

pub use group::ShareGroup;
