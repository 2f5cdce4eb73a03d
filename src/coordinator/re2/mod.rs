//! Regular expressions as RE2/J, the engine of Kafka's brokers, understands them.
//!
//! The syntax is read here, element by element as RE2/J reads it; the automaton is the `regex-automata` crate's.
//! `docs/regex.md` says what was compared, and the few differences that are left.

mod class;
mod parser;

use parser::Parser;
use regex_automata::meta::{BuildError, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::{Hir, Look};
use thiserror::Error;

/// Largest automaton. RE2/J has no limit but the broker's memory; this is room for about a million copies of a
/// character, so for `((a{100}){100}){100}`, which RE2/J takes too.
const MAX_AUTOMATON_BYTES: usize = 64 << 20;

/// RE2/J's releases among Kafka's versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// 1.7, of Kafka 4.0.
    V1_7,
    /// 1.8, of Kafka 4.1 on: `(?<name>…)` is new.
    V1_8,
}

/// Why an expression is refused; the first twelve are RE2/J's own words.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RegexError {
    /// A name that an earlier group has.
    #[error("duplicate capture group name")]
    DuplicateName,
    /// A `)` that nothing opened.
    #[error("regexp/syntax: internal error")]
    UnopenedGroup,
    /// A range the wrong way round, or the name of no class.
    #[error("invalid character class range")]
    ClassRange,
    /// An escaped letter or digit that means nothing.
    #[error("invalid escape sequence")]
    Escape,
    /// A group name of other characters than ASCII letters, digits and `_`, or that does not end.
    #[error("invalid named capture")]
    GroupName,
    /// `(?` and what RE2/J has not: look-around, for one.
    #[error("invalid or unsupported Perl syntax")]
    PerlSyntax,
    /// `a**`
    #[error("invalid nested repetition operator")]
    NestedRepetition,
    /// More than 1000 times, or a minimum above the maximum.
    #[error("invalid repeat count")]
    RepeatCount,
    /// A `[` without its `]`.
    #[error("missing closing ]")]
    UnclosedClass,
    /// A `(` without its `)`.
    #[error("missing closing )")]
    UnclosedGroup,
    /// Nothing before `*`, `+`, `?` or `{2}`.
    #[error("missing argument to repetition operator")]
    NothingToRepeat,
    /// A `\` at the end.
    #[error("trailing backslash at end of expression")]
    TrailingBackslash,
    /// Too deep for this program; RE2/J's limit is the broker's stack.
    #[error("nested too deeply")]
    TooDeep,
    /// Too large for this program; RE2/J's limit is the broker's memory.
    #[error("too large")]
    TooLarge,
}

/// A compiled expression.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// Whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(Input::new(text).anchored(Anchored::Yes))
    }
}

/// Compiles an expression, as `Pattern.compile` of that release does.
pub fn compile(expression: &str, release: Release) -> Result<Pattern, RegexError> {
    let parsed = Parser::new(expression, release).parse()?;
    let whole = Hir::concat(vec![Hir::look(Look::Start), parsed, Hir::look(Look::End)]);
    let config =
        Regex::config().nfa_size_limit(Some(MAX_AUTOMATON_BYTES)).which_captures(WhichCaptures::None).utf8_empty(false);
    Regex::builder().configure(config).build_from_hir(&whole).map(Pattern).map_err(|_: BuildError| RegexError::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::{RegexError, Release, compile};
    use serde_json::Value;

    /// What RE2/J 1.7 and 1.8 gave on Java 17: the first line has the texts, each other one an expression with
    /// the texts that match, or the description of the refusal.
    const CASES: &str = include_str!("../../../tests/golden/re2/cases.jsonl");

    #[test]
    fn agrees_with_re2j() {
        let mut lines = CASES.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
        let texts = lines.next().expect("the texts")["texts"].take();
        let texts: Vec<&str> = texts.as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        let mut wrong = Vec::new();
        let mut cases = 0;
        for case in lines {
            let release = if case["re2j"] == "1.7" { Release::V1_7 } else { Release::V1_8 };
            let expected = case.get("matches").or(case.get("error")).expect("an outcome");
            let got = match compile(case["regex"].as_str().expect("an expression"), release) {
                Ok(pattern) => texts.iter().copied().filter(|text| pattern.matches(text)).collect(),
                Err(error) => Value::from(error.to_string()),
            };
            if got != *expected {
                wrong.push(format!("{case} gave {got}"));
            }
            cases += 1;
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert_eq!(cases, 530);
    }

    #[test]
    fn refuses_what_is_too_large_or_too_deep() {
        let nested = |open: &str, close: &str, depth| open.repeat(depth) + "b" + &close.repeat(depth);
        let refusal = |expression: &str| compile(expression, Release::V1_8).err();
        assert_eq!(refusal(&nested("(a|", ")*", 51)), Some(RegexError::TooDeep));
        assert_eq!(refusal(&nested("(a|", ")*", 50)), None);
        assert_eq!(refusal(&("a*".to_owned() + &"(?i)*".repeat(100))), Some(RegexError::TooDeep));
        assert_eq!(refusal(&nested("(", ")", 3000)), None);
        assert_eq!(refusal("(((a{100}){100}){100}){100}"), Some(RegexError::TooLarge));
    }
}
