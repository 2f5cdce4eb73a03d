//! Files and folders in the making: they are taken away when they are not finished, also when the program is interrupted.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is in the making now, anywhere in the program. Whoever holds the lock keeps everybody from beginning or finishing.
static PATHS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// How often a folder is removed again that somebody still writes to.
const ATTEMPTS: usize = 100;

fn paths() -> MutexGuard<'static, Vec<PathBuf>> {
    PATHS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file or folder that gets its own name when it is whole, and is taken away if that never happens.
#[derive(Debug)]
pub(super) struct Unfinished(PathBuf);

impl Unfinished {
    /// A file or folder beside `path`, hidden and named after it; `create` makes it.
    pub fn beside<E>(path: &Path, create: impl FnOnce(&Path) -> Result<(), E>) -> Result<Unfinished, E> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let hidden = path.with_file_name(format!(".{name}.{}.partial", std::process::id()));
        let mut paths = paths();
        create(&hidden)?;
        paths.push(hidden.clone());
        Ok(Unfinished(hidden))
    }

    /// Where it is in the making.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Gives what is in the making its name, or its parts theirs; an interruption waits for that.
    pub fn finish<T>(&self, rename: impl FnOnce(&Path) -> T) -> T {
        let _nobody_else = paths();
        rename(&self.0)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        remove(&self.0);
        paths().retain(|path| *path != self.0);
    }
}

/// Takes away whatever is in the making, and lets nothing begin or be finished any more: the program is about to end.
pub fn abandon_unfinished() {
    let paths = paths();
    paths.iter().for_each(|path| remove(path));
    std::mem::forget(paths);
}

/// Nothing can be done about a failure, and a left-over harms nobody.
fn remove(path: &Path) {
    if path.is_dir() {
        // Somebody may just be writing another file into it.
        let _ = (0..ATTEMPTS).any(|_| fs::remove_dir_all(path).is_ok());
    } else {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finished_goes() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let wanted = home.path().join("run");
        let folder = Unfinished::beside(&wanted, |path| fs::create_dir(path)).expect("made");
        fs::write(folder.path().join("a.csv"), "half").expect("written");
        assert!(folder.path().ends_with(format!(".run.{}.partial", std::process::id())));
        drop(folder);
        assert_eq!(fs::read_dir(home.path()).expect("a folder").count(), 0);
        let folder = Unfinished::beside(&wanted, |path| fs::create_dir(path)).expect("made");
        folder.finish(|path| fs::rename(path, &wanted)).expect("renamed");
        drop(folder);
        assert!(wanted.is_dir());
        assert_eq!(fs::read_dir(home.path()).expect("a folder").count(), 1);
    }
}
