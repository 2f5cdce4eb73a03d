//! The file of a baseline: TOML, made to be read in a review. A figure that is the same for all strategies stands once.

use super::{Baseline, Chain, StrategyBaseline};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use toml::Spanned;

const FORMAT: u32 = 1;
const TRAIL_WIDTH: usize = 120;

/// What is wrong with the file of a baseline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}; restore the file or make it anew with `coordsim check --bless`")]
pub struct BaselineError {
    file: String,
    line: usize,
    message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: Spanned<u32>,
    scenario: String,
    seed: u64,
    kafka: String,
    strategies: Vec<String>,
    figures: BTreeMap<String, Spanned<Figure>>,
    #[serde(default)]
    chains: BTreeMap<String, BTreeMap<String, Spanned<Link>>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Figure {
    All(i64),
    Each(BTreeMap<String, i64>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    len: usize,
    fingerprint: String,
    trail: String,
}

/// The text of a file.
pub fn to_text(baseline: &Baseline) -> String {
    let mut text = format!(
        "# What `coordsim check` compares with (docs/check.md). Written by `coordsim check --bless`, never by hand.\n\
         format = {FORMAT}\nscenario = {:?}\nseed = {}\nkafka = {:?}\nstrategies = {:?}\n\n[figures]\n",
        baseline.scenario,
        baseline.seed,
        baseline.kafka,
        baseline.strategies.iter().map(|s| s.name.as_str()).collect::<Vec<_>>()
    );
    for name in figure_names(baseline) {
        put_figure(&mut text, baseline, name);
    }
    for strategy in &baseline.strategies {
        for (name, chain) in &strategy.chains {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "\n[chains.{}.{name}]", key(&strategy.name));
            let _ = writeln!(text, "len = {}\nfingerprint = \"{:016x}\"\ntrail = \"\"\"", chain.len, chain.fingerprint);
            let mut rest = chain.trail.as_str();
            while !rest.is_empty() {
                let (line, after) = rest.split_at(rest.len().min(TRAIL_WIDTH));
                text.push_str(line);
                text.push('\n');
                rest = after;
            }
            text.push_str("\"\"\"\n");
        }
    }
    text
}

/// All names, each where the first strategy that has it has it.
fn figure_names(baseline: &Baseline) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in baseline.strategies.iter().flat_map(|strategy| &strategy.figures) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

fn put_figure(text: &mut String, baseline: &Baseline, name: &str) {
    let values: Vec<_> = baseline.strategies.iter().map(|s| (&s.name, s.figure(name))).collect();
    let shown = match values[0].1 {
        Some(first) if values.iter().all(|(_, value)| *value == Some(first)) => first.to_string(),
        _ => {
            let each = values.iter().filter_map(|(of, value)| value.map(|value| format!("{} = {value}", key(of))));
            format!("{{ {} }}", each.collect::<Vec<_>>().join(", "))
        }
    };
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{} = {shown}", key(name));
}

fn key(name: &str) -> String {
    let is_bare = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if is_bare { name.to_owned() } else { format!("{name:?}") }
}

/// Reads a file's text.
///
/// # Errors
/// The first thing that is wrong with it, with its line.
pub fn read(file: &str, text: &str) -> Result<Baseline, BaselineError> {
    let error = |at: usize, message: String| BaselineError {
        file: file.to_owned(),
        line: text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1,
        message,
    };
    let read: File = toml::from_str(text).map_err(|wrong| {
        error(wrong.span().map_or(0, |span| span.start), format!("not a baseline: {}", wrong.message()))
    })?;
    if *read.format.get_ref() != FORMAT {
        let message = format!("format {} is not known; expected {FORMAT}", read.format.get_ref());
        return Err(error(read.format.span().start, message));
    }
    let new = |name: &String| StrategyBaseline { name: name.clone(), figures: Vec::new(), chains: Vec::new() };
    let mut strategies: Vec<StrategyBaseline> = read.strategies.iter().map(new).collect();
    for (name, figure) in read.figures {
        let at = figure.span().start;
        match figure.into_inner() {
            Figure::All(value) => strategies.iter_mut().for_each(|s| s.figures.push((name.clone(), value))),
            Figure::Each(values) => {
                for (of, value) in values {
                    let strategy = strategies.iter_mut().find(|s| s.name == of);
                    let unknown = || error(at, format!("{name}: {of:?} is not among the strategies"));
                    strategy.ok_or_else(unknown)?.figures.push((name.clone(), value));
                }
            }
        }
    }
    for (of, chains) in read.chains {
        for (name, link) in chains {
            let at = link.span().start;
            let chain = chain(link.into_inner()).map_err(|message| error(at, format!("{of}, {name}: {message}")))?;
            let strategy = strategies.iter_mut().find(|s| s.name == of);
            let unknown = || error(at, format!("{of:?} is not among the strategies"));
            strategy.ok_or_else(unknown)?.chains.push((name, chain));
        }
    }
    Ok(Baseline { scenario: read.scenario, seed: read.seed, kafka: read.kafka, strategies })
}

fn chain(link: Link) -> Result<Chain, String> {
    let fingerprint = u64::from_str_radix(&link.fingerprint, 16).ok().filter(|_| link.fingerprint.len() == 16);
    let fingerprint = fingerprint.ok_or("the fingerprint is not 16 hexadecimal digits")?;
    let trail: String = link.trail.split_ascii_whitespace().collect();
    if !Chain::is_trail(&trail) {
        return Err("the trail has characters that no trail has".to_owned());
    }
    // A longer one than this is in no file; counting would take long.
    let expected = Chain::trail_len(link.len.min(1 << 32));
    if trail.len() != expected {
        return Err(format!("the trail has {} characters; expected {expected}", trail.len()));
    }
    Ok(Chain { len: link.len, fingerprint, trail })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline() -> Baseline {
        let strategy = |name: &str, bumps| StrategyBaseline {
            name: name.to_owned(),
            figures: vec![("groups".to_owned(), 8), ("records.X.key_bytes".to_owned(), bumps)],
            chains: vec![("events".to_owned(), Chain::new(0..200))],
        };
        let strategies = vec![strategy("full-map", 3), strategy("v1.0", -4)];
        Baseline { scenario: "s".to_owned(), seed: 7, kafka: "4.3.1".to_owned(), strategies }
    }

    #[test]
    fn what_is_written_is_read() {
        let text = to_text(&baseline());
        assert!(text.contains("\ngroups = 8\n\"records.X.key_bytes\" = { full-map = 3, \"v1.0\" = -4 }\n"), "{text}");
        assert_eq!(read("f", &text), Ok(baseline()));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let text = to_text(&baseline());
        let wrong = |from: &str, to: &str| read("f", &text.replacen(from, to, 1)).expect_err("wrong").to_string();
        assert!(wrong("format = 1", "format = 2").starts_with("f:2: format 2 is not known; expected 1"));
        assert!(wrong("seed = 7", "<<<<<<<").starts_with("f:4: not a baseline: "), "{}", wrong("seed = 7", "<<<<<<<"));
        assert!(wrong("full-map = 3", "other = 3").starts_with("f:10: records.X.key_bytes: \"other\" is not among"));
        assert!(wrong("len = 200", "len = 201").contains("the trail has 200 characters; expected 201"));
        assert!(
            wrong("groups = 8", "groups = \"8\"").starts_with("f:9: "),
            "{}",
            wrong("groups = 8", "groups = \"8\"")
        );
    }
}
