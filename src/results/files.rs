//! Writes the files of a run so that each is there whole or not at all.

use super::unfinished::Unfinished;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Its name; a folder may stand before it.
    pub name: &'static str,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct FileError {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

impl FileError {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> FileError + '_ {
        move |source| FileError { path: path.to_owned(), source }
    }
}

/// A new folder beside another one, whose parents are made if they are missing.
fn folder_beside(folder: &Path) -> Result<Unfinished, FileError> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(FileError::at(parent))?;
    Unfinished::beside(folder, |path| fs::create_dir(path).map_err(FileError::at(path)))
}

/// Writes files into a folder, which may exist and have others. They are first written to a folder beside it; then they
/// are renamed into place: the folder as a whole if it is new, else file by file.
///
/// # Errors
/// The first file or folder that cannot be written. What was there before stays.
pub fn write_files(folder: &Path, files: &[OutputFile]) -> Result<(), FileError> {
    let unfinished = folder_beside(folder)?;
    for file in files {
        let path = unfinished.path().join(file.name);
        make_parent(&path)?;
        write_durably(&path, &file.bytes).map_err(FileError::at(&path))?;
    }
    unfinished.finish(|beside| {
        if !folder.exists() {
            return fs::rename(beside, folder).map_err(FileError::at(folder));
        }
        for file in files {
            let path = folder.join(file.name);
            make_parent(&path)?;
            fs::rename(beside.join(file.name), &path).map_err(FileError::at(&path))?;
        }
        Ok(())
    })
}

/// Makes the folder of a file.
fn make_parent(path: &Path) -> Result<(), FileError> {
    match path.parent().filter(|parent| !parent.exists()) {
        Some(parent) => fs::create_dir_all(parent).map_err(FileError::at(parent)),
        None => Ok(()),
    }
}

/// Writes a new folder with files in folders of their own; all of it appears at once. Paths count from the folder.
///
/// # Errors
/// The first file or folder that cannot be written; also if the folder is there already and not empty, for what is in it
/// would get mixed up with what is written.
pub fn write_tree(folder: &Path, files: impl IntoIterator<Item = (PathBuf, Vec<u8>)>) -> Result<(), FileError> {
    let unfinished = folder_beside(folder)?;
    for (path, bytes) in files {
        let path = unfinished.path().join(path);
        make_parent(&path)?;
        write_durably(&path, &bytes).map_err(FileError::at(&path))?;
    }
    // An empty folder is replaced, any other refused by the file system.
    unfinished.finish(|beside| fs::rename(beside, folder)).map_err(FileError::at(folder))
}

/// Writes one file, whole or not at all.
///
/// # Errors
/// If it cannot be written; what was there before stays.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let written = Unfinished::beside(path, |beside| fs::File::create_new(beside).map(drop)).and_then(|unfinished| {
        write_durably(unfinished.path(), bytes)?;
        unfinished.finish(|beside| fs::rename(beside, path))
    });
    written.map_err(FileError::at(path))
}

/// Writes a file and makes sure that it is on the disk before it gets its name.
fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &'static str, text: &str) -> OutputFile {
        OutputFile { name, bytes: text.as_bytes().to_vec() }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<_> = entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_replace_their_like_and_leave_others() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let folder = home.path().join("deep/run");
        write_files(&folder, &[file("a.csv", "old"), file("b.csv", "old")]).expect("written");
        fs::write(folder.join("notes.txt"), "mine").expect("written");
        write_files(&folder, &[file("a.csv", "new")]).expect("written");
        let text = |name: &str| fs::read_to_string(folder.join(name)).expect("a file");
        assert_eq!([text("a.csv"), text("b.csv"), text("notes.txt")], ["new", "old", "mine"]);
        assert_eq!(names(&home.path().join("deep")), ["run"]);
    }

    #[test]
    fn a_tree_is_new() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let folder = home.path().join("deep/logs");
        fs::create_dir_all(&folder).expect("a folder");
        let files = |text: &str| ["p-0/a.log", "p-1/a.log"].map(|path| (PathBuf::from(path), text.as_bytes().to_vec()));
        write_tree(&folder, files("new")).expect("written");
        assert_eq!(names(&folder), ["p-0", "p-1"]);
        let error = write_tree(&folder, files("newer")).expect_err("it has files");
        assert_eq!(error.path, folder);
        assert_eq!(names(&home.path().join("deep")), ["logs"]);
        assert_eq!(fs::read_to_string(folder.join("p-1/a.log")).expect("a file"), "new");
    }

    #[test]
    fn a_failure_leaves_what_was_there() {
        let home = tempfile::tempdir().expect("a temporary folder");
        fs::write(home.path().join("run"), "a file").expect("written");
        let error = write_files(&home.path().join("run"), &[file("a.csv", "new")]).expect_err("it is a file");
        assert_eq!(error.path, home.path().join("run/a.csv"));
        assert_eq!(names(home.path()), ["run"]);
        assert_eq!(fs::read_to_string(home.path().join("run")).expect("a file"), "a file");
    }
}
