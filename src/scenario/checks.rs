//! `[check]`: how `coordsim check` treats the scenario.

use super::diagnostic::{Place, Problems};
use super::reader::{Table, Value};
use super::types::{Checks, Tolerance};

/// Reads it.
pub(super) fn read_checks(root: &mut Table, problems: &mut Problems) -> Checks {
    let mut checks = Checks::default();
    let Some(mut table) = root.get("check").and_then(|value| value.table(problems, "a table")) else { return checks };
    let expected = "the reason, such as \"takes minutes\"";
    let value = table.get("only_when_named");
    checks.only_when_named = value.and_then(|value| value.text(problems, expected)).map(str::to_owned);
    let expected = "tables such as [check.tolerances.appended_bytes]";
    let tolerances = table.get("tolerances").and_then(|value| value.table(problems, expected));
    for (metric, at, value) in tolerances.iter().flat_map(Table::fields) {
        let place = problems.place(at, &value.path);
        checks.tolerances.extend(read_tolerance(metric, place, &value, problems));
    }
    table.finish(problems);
    checks
}

fn read_tolerance(metric: &str, place: Place, value: &Value, problems: &mut Problems) -> Option<Tolerance> {
    let mut table = value.table(problems, "a table with within and reason")?;
    let within = table.require(problems, "within", "a percentage such as \"1%\"");
    let millionths = within.and_then(|value| {
        let text = value.text(problems, "a percentage such as \"1%\"")?;
        let parsed = millionths(text);
        if parsed.is_none() {
            value.expected(problems, "a percentage such as \"1%\" or \"0.25%\", up to 100% and four decimals");
        }
        parsed
    });
    let reason = table.require(problems, "reason", "why the figure may differ");
    let reason = reason.and_then(|value| value.text(problems, "why the figure may differ"));
    table.finish(problems);
    Some(Tolerance { metric: metric.to_owned(), millionths: millionths?, reason: reason?.to_owned(), place })
}

/// A percentage in millionths.
fn millionths(text: &str) -> Option<u64> {
    let number = text.strip_suffix('%')?.trim_end();
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(whole) || !are_digits(decimals) || whole.len() > 3 || decimals.len() > 4 {
        return None;
    }
    let value = whole.parse::<u64>().ok()? * 10_000 + format!("{decimals:0<4}").parse::<u64>().ok()?;
    (value <= 1_000_000).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn percentages() {
        let values = ["1%", "0.25 %", "100%", "0.0001%"].map(millionths);
        assert_eq!(values, [Some(10_000), Some(2_500), Some(1_000_000), Some(1)]);
        for wrong in ["1", "%", "-1%", "100.1%", "0.00001%", "1.%", "1e1%"] {
            assert_eq!(millionths(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn tolerances_have_a_reason() {
        let text = "duration = \"1m\"\n[check]\nonly_when_named = \"long\"\n[check.tolerances.appended_bytes]\nwithin = \"1%\"\n";
        let errors = Scenario::parse("f", text).expect_err("no reason");
        assert_eq!(errors.len(), 1);
        assert!(errors[0].to_string().contains("check.tolerances.appended_bytes.reason: is missing"), "{}", errors[0]);
        let scenario = Scenario::parse("f", &format!("{text}reason = \"why\"\n")).expect("right");
        assert_eq!(scenario.check.only_when_named.as_deref(), Some("long"));
        let Tolerance { metric, millionths, reason, place } = &scenario.check.tolerances[0];
        assert_eq!((metric.as_str(), *millionths, reason.as_str(), place.line), ("appended_bytes", 10_000, "why", 4));
        let errors = Scenario::parse("f", &text.replace("1%", "1").replace("only_", "onli_")).expect_err("wrong");
        assert_eq!(errors.len(), 3, "{errors:?}");
    }
}
