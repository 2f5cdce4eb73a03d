//! What came of a check: as text, JUnit XML, Markdown and JSON.

use super::Finding;
use super::subject::{Checked, State};
use crate::results::baseline::Kind;
use serde_json::json;

/// The most rows that Markdown shows of a scenario: a comment has a limit.
const MARKDOWN_ROWS: usize = 40;

/// One scenario as text.
pub fn text(one: &Checked) -> String {
    let name = &one.name;
    match &one.state {
        State::Wrong(_) => format!("{name}: cannot be checked\n"),
        State::Skipped(reason) => format!("{name}: left out unless named ({reason})\n"),
        State::Same(short) => format!("{name}: same ({short})\n"),
        State::Differs(findings) => {
            let mut text = format!("{name}: differs\n");
            let mut said: Vec<(&Option<String>, &str)> = Vec::new();
            for finding in findings {
                text.push_str(&format!("  {}\n", line(finding)));
                let Some(event) = &finding.event else { continue };
                let key = (&finding.difference.strategy, event.as_str());
                if !said.contains(&key) {
                    said.push(key);
                    text.push_str(&format!("    first: {event}\n"));
                }
            }
            text
        }
    }
}

/// `cost full-map appended_bytes: 10 → 12, +2 (+20 %)`.
fn line(finding: &Finding) -> String {
    let difference = &finding.difference;
    let strategy = difference.strategy.as_ref().map_or_else(String::new, |strategy| format!("{strategy} "));
    let new = difference.new.as_deref().unwrap_or("nothing");
    let old = difference.old.as_ref().map_or_else(String::new, |old| format!("{old} → "));
    let change = difference.change.as_ref().map_or_else(String::new, |change| format!(", {change}"));
    format!("{} {strategy}{}: {old}{new}{change}", difference.kind.name(), difference.metric)
}

/// All scenarios.
pub struct Report<'a>(pub &'a [Checked]);

impl Report<'_> {
    /// A test suite for each scenario, a test case for each kind of check.
    pub fn junit(&self) -> String {
        let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"coordsim check\">\n".to_owned();
        for one in self.0 {
            let cases = cases(one);
            let count = |part: &str| cases.iter().filter(|case| case.contains(part)).count();
            let (failures, errors, skipped) = (count("<failure "), count("<error "), count("<skipped "));
            xml.push_str(&format!(
                "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">\n",
                escaped(&one.name),
                cases.len()
            ));
            cases.iter().for_each(|case| xml.push_str(case));
            xml.push_str("  </testsuite>\n");
        }
        xml.push_str("</testsuites>\n");
        xml
    }

    /// What differs, a table for each scenario.
    pub fn markdown(&self) -> String {
        let bad = self.0.iter().filter(|one| one.differs() || !one.errors().is_empty()).count();
        let mut text = match bad {
            0 => format!("### coordsim check: {} scenarios as before\n", self.0.len()),
            _ => format!("### coordsim check: {bad} of {} scenarios not as before\n", self.0.len()),
        };
        for one in self.0 {
            match &one.state {
                State::Wrong(errors) => {
                    text.push_str(&format!("\n**{}** cannot be checked:\n\n", cell(&one.name)));
                    errors.iter().for_each(|error| text.push_str(&format!("- {}\n", cell(error))));
                }
                State::Differs(findings) => put_table(&mut text, &one.name, findings),
                State::Same(_) | State::Skipped(_) => {}
            }
        }
        text
    }

    /// Everything.
    pub fn json(&self) -> String {
        let finding = |finding: &Finding| {
            let difference = &finding.difference;
            json!({
                "kind": difference.kind.name(), "strategy": difference.strategy, "metric": difference.metric,
                "old": difference.old, "new": difference.new, "change": difference.change, "event": finding.event,
            })
        };
        let scenario = |one: &Checked| match &one.state {
            State::Wrong(errors) => json!({ "scenario": one.name, "state": "wrong", "errors": errors }),
            State::Skipped(reason) => json!({ "scenario": one.name, "state": "skipped", "reason": reason }),
            State::Same(_) => json!({ "scenario": one.name, "state": "same" }),
            State::Differs(findings) => {
                let differences: Vec<_> = findings.iter().map(finding).collect();
                json!({ "scenario": one.name, "state": "differs", "differences": differences })
            }
        };
        let scenarios: Vec<_> = self.0.iter().map(scenario).collect();
        format!("{:#}\n", json!({ "coordsim": env!("CARGO_PKG_VERSION"), "scenarios": scenarios }))
    }
}

fn cases(one: &Checked) -> Vec<String> {
    let class = escaped(&one.name);
    let case =
        |name: &str, inside: &str| format!("    <testcase classname=\"{class}\" name=\"{name}\">{inside}</testcase>\n");
    match &one.state {
        State::Wrong(errors) => {
            let inside = format!("<error message=\"cannot be checked\">{}</error>", escaped(&errors.join("\n")));
            vec![case("input", &inside)]
        }
        State::Skipped(reason) => vec![case("input", &format!("<skipped message=\"{}\"/>", escaped(reason)))],
        State::Same(_) => vec![case("same", "")],
        State::Differs(findings) => {
            let of = |kind: Kind| findings.iter().filter(move |finding| finding.difference.kind == kind);
            let kinds = Kind::ALL.into_iter().filter(|kind| of(*kind).next().is_some());
            let inside = |kind: Kind| {
                let lines = of(kind).map(|finding| match &finding.event {
                    Some(event) => format!("{}\n  first: {event}", line(finding)),
                    None => line(finding),
                });
                let lines = escaped(&lines.collect::<Vec<_>>().join("\n"));
                format!("<failure message=\"{} differ\">{lines}</failure>", of(kind).count())
            };
            kinds.map(|kind| case(kind.name(), &inside(kind))).collect()
        }
    }
}

fn put_table(text: &mut String, name: &str, findings: &[Finding]) {
    text.push_str(&format!("\n**{}**\n\n", cell(name)));
    text.push_str("| check | strategy | metric | old | new | change | first event |\n|---|---|---|---|---|---|---|\n");
    for Finding { difference, event } in findings.iter().take(MARKDOWN_ROWS) {
        let optional = |text: &Option<String>| cell(text.as_deref().unwrap_or_default());
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} |\n",
            difference.kind.name(),
            optional(&difference.strategy),
            cell(&difference.metric),
            optional(&difference.old),
            optional(&difference.new),
            optional(&difference.change),
            optional(event),
        ));
    }
    if let Some(more) = findings.len().checked_sub(MARKDOWN_ROWS).filter(|more| *more > 0) {
        text.push_str(&format!("\n{more} more differences are in the other reports.\n"));
    }
}

/// A text as a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;").replace(['\n', '\r'], " ")
}

/// A text within XML; characters that XML cannot have are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
