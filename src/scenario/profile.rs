//! A cost profile as it is written: how long each operation of the coordinator takes. `docs/cpu.md` describes the file.

use super::diagnostic::{Diagnostic, Problems};
use super::reader::{Table, Value};
use super::syntax;

/// The longest that one operation may be said to take: a second.
const MOST_PICOSECONDS: i64 = 1_000_000_000_000;

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileFile {
    /// Its name.
    pub name: String,
    /// Where it comes from, in the order of the file: what is known, and what it is.
    pub provenance: Vec<(String, String)>,
    /// How far what it predicts is from what was measured, where that is known.
    pub error: Option<ProfileError>,
    /// How long each operation takes, in the order of the operations; `None`: not measured.
    pub picoseconds: Vec<Option<u64>>,
}

/// How far predictions are from measurements that the profile was not made from, in thousandths of what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileError {
    /// The median.
    pub median_permille: u64,
    /// The worst.
    pub worst_permille: u64,
}

impl ProfileFile {
    /// Reads a profile of these operations.
    ///
    /// # Errors
    /// Everything that is wrong in order of position, but first the errors of syntax.
    pub fn parse(file: &str, text: &str, operations: &[&'static str]) -> Result<ProfileFile, Vec<Diagnostic>> {
        syntax::read(file, text, |root, _, problems| read(root, problems, operations))
    }
}

fn read(mut root: Table, problems: &mut Problems, operations: &[&'static str]) -> ProfileFile {
    let name = root.require(problems, "name", "a name").and_then(|value| value.text(problems, "a name"));
    let mut profile = ProfileFile {
        name: name.unwrap_or_default().to_owned(),
        picoseconds: vec![None; operations.len()],
        ..ProfileFile::default()
    };
    let provenance = root.get("provenance").and_then(|value| value.table(problems, "a table of texts"));
    for (key, _, value) in provenance.iter().flat_map(Table::fields) {
        let text = value.text(problems, "a text").unwrap_or_default();
        profile.provenance.push((key.to_owned(), text.to_owned()));
    }
    profile.error = root.get("error").and_then(|value| read_error(&value, problems));
    let expected = "the operations that were not measured";
    let items = root.get("not_measured").and_then(|value| value.items(problems, expected)).unwrap_or_default();
    let names: Vec<(&str, usize)> = operations.iter().enumerate().map(|(index, name)| (*name, index)).collect();
    let left_out: Vec<usize> = items.iter().filter_map(|item| item.one_of(problems, &names)).collect();
    let expected = "a table [picoseconds] with a field for each operation";
    let prices = root.require(problems, "picoseconds", expected).and_then(|value| value.table(problems, expected));
    if let Some(mut prices) = prices {
        for (index, operation) in operations.iter().enumerate() {
            let value = prices.get(operation);
            let picoseconds = value.as_ref().and_then(|value| value.integer(problems, 0..=MOST_PICOSECONDS));
            profile.picoseconds[index] = picoseconds.map(|picoseconds| picoseconds as u64);
            match value {
                Some(value) if left_out.contains(&index) => {
                    value.complain(problems, "is in not_measured too; expected one of both");
                }
                None if !left_out.contains(&index) => {
                    let message = "is missing; expected picoseconds, or its name in not_measured";
                    prices.complain(problems, operation, message);
                }
                _ => {}
            }
        }
        prices.finish(problems);
    }
    root.finish(problems);
    profile
}

fn read_error(value: &Value, problems: &mut Problems) -> Option<ProfileError> {
    let mut table = value.table(problems, "a table with median_permille and worst_permille")?;
    let mut permille = |field| {
        let expected = "thousandths of what was measured";
        let value = table.require(problems, field, expected)?;
        value.integer(problems, 0..=i64::MAX).map(|permille| permille as u64)
    };
    let (median_permille, worst_permille) = (permille("median_permille"), permille("worst_permille"));
    table.finish(problems);
    Some(ProfileError { median_permille: median_permille?, worst_permille: worst_permille? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPERATIONS: [&str; 3] = ["heartbeat", "timer", "batch"];

    #[test]
    fn a_profile_is_read() {
        let text = "name = \"p\"\nnot_measured = [\"batch\"]\n[provenance]\nkafka = \"4.3.1\"\n[error]\n\
            median_permille = 71\nworst_permille = 250\n[picoseconds]\nheartbeat = 450_000\ntimer = 0\n";
        let expected = ProfileFile {
            name: "p".to_owned(),
            provenance: vec![("kafka".to_owned(), "4.3.1".to_owned())],
            error: Some(ProfileError { median_permille: 71, worst_permille: 250 }),
            picoseconds: vec![Some(450_000), Some(0), None],
        };
        assert_eq!(ProfileFile::parse("p.toml", text, &OPERATIONS), Ok(expected));
    }

    #[test]
    fn all_errors_at_once() {
        let text = "not_measured = [\"timers\", \"batch\"]\n[picoseconds]\nheartbeat = -1\nbatch = 5\nheartbeats = 3\n";
        let errors = ProfileFile::parse("p.toml", text, &OPERATIONS).expect_err("wrong");
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let expected = [
            "p.toml:1:1: name: is missing; expected a name",
            "p.toml:1:17: not_measured[0]: found \"timers\"; expected one of \"heartbeat\", \"timer\", \"batch\"; did you mean \"timer\"?",
            "p.toml:2:1: picoseconds.timer: is missing; expected picoseconds, or its name in not_measured",
            "p.toml:3:13: picoseconds.heartbeat: found -1; expected an integer from 0 to 1000000000000",
            "p.toml:4:9: picoseconds.batch: is in not_measured too; expected one of both",
            "p.toml:5:1: picoseconds.heartbeats: is not a field here; did you mean \"heartbeat\"?",
        ];
        assert_eq!(errors, expected);
    }
}
