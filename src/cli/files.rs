//! Reading what the user names, and writing whole files or none.

use std::fs;
use std::io;
use std::path::Path;

/// The text of a file, or what is wrong with it.
pub fn read_text(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {}", path.display(), reason(&error)))?;
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
        format!("{}:{line}: not UTF-8 text", path.display())
    })
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::IsADirectory => "is a folder, not a file".to_owned(),
        _ => error.to_string(),
    }
}
