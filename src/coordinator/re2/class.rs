//! Sets of characters: RE2/J's named classes, and its upper and lower case.

use super::RegexError;
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// RE2/J's categories and scripts, which are those of Unicode 6.0, a line each: the name, then ranges in hexadecimal.
/// A `+` after a name: what `(?i)` adds to that class (`UnicodeTables`; its folding tables know only these few).
const UNICODE: &str = include_str!("unicode-6.0.txt");

/// The last character that RE2/J folds in a class (`Unicode.MAX_FOLD`); as a literal, later ones fold too.
const MAX_FOLDED: char = '\u{1044F}';

const BEFORE_SURROGATES: char = '\u{D7FF}';
const AFTER_SURROGATES: char = '\u{E000}';

/// What this crate's Unicode folds and RE2/J on Java 17 does not: letters newer than Unicode 13, small Cyrillic
/// variants and ligatures that Java's `toUpperCase` maps one way or not at all.
const UNFOLDED: [(char, char); 15] = [
    ('\u{390}', '\u{390}'),
    ('\u{3B0}', '\u{3B0}'),
    ('\u{1C80}', '\u{1C8A}'),
    ('\u{1FD3}', '\u{1FD3}'),
    ('\u{1FE3}', '\u{1FE3}'),
    ('\u{2C2F}', '\u{2C2F}'),
    ('\u{2C5F}', '\u{2C5F}'),
    ('\u{A7C0}', '\u{A7C1}'),
    ('\u{A7CB}', '\u{A7CD}'),
    ('\u{A7D0}', '\u{A7D1}'),
    ('\u{A7D6}', '\u{A7DC}'),
    ('\u{FB05}', '\u{FB06}'),
    ('\u{10570}', '\u{105BC}'),
    ('\u{10D50}', '\u{10D65}'),
    ('\u{10D70}', '\u{10D85}'),
];

/// A set of the given ranges, both ends in it.
pub(super) fn set(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(first, last)| ClassUnicodeRange::new(first, last)))
}

/// Every character.
pub(super) fn any() -> ClassUnicode {
    set(&[('\0', char::MAX)])
}

/// The code points from first to last, without surrogates, which no text contains.
pub(super) fn code_points(first: u32, last: u32) -> ClassUnicode {
    let first = char::from_u32(first).unwrap_or(AFTER_SURROGATES);
    let last = char::from_u32(last).unwrap_or(BEFORE_SURROGATES);
    if first <= last { set(&[(first, last)]) } else { set(&[]) }
}

/// All characters that are not in the class.
pub(super) fn negate(class: &mut ClassUnicode) {
    // `ClassUnicode::negate` takes ranges that meet at the surrogates for apart, and would put both ends in.
    let seam = set(&[(BEFORE_SURROGATES, AFTER_SURROGATES)]);
    let mut ends = class.clone();
    ends.intersect(&seam);
    if ends.iter().map(ClassUnicodeRange::len).sum::<usize>() > 1 {
        class.union(&seam);
    }
    class.negate();
}

/// Adds the other cases of every character.
pub(super) fn fold(class: &mut ClassUnicode) {
    let unfolded = set(&UNFOLDED);
    let mut others = class.clone();
    others.difference(&unfolded);
    others.case_fold_simple();
    others.difference(&unfolded);
    class.union(&others);
}

/// Adds the other cases as RE2/J does in a class: only those of characters up to `MAX_FOLDED`.
pub(super) fn fold_in_class(class: &mut ClassUnicode) {
    let mut folded = class.clone();
    folded.intersect(&set(&[('\0', MAX_FOLDED)]));
    fold(&mut folded);
    class.union(&folded);
}

/// `\d`, `\s`, `\w` and their opposites; all are ASCII.
pub(super) fn perl(letter: char, folds: bool) -> Option<ClassUnicode> {
    let class = match letter.to_ascii_lowercase() {
        'd' => set(&[('0', '9')]),
        's' => set(&[('\t', '\n'), ('\x0C', '\r'), (' ', ' ')]),
        'w' => set(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
        _ => return None,
    };
    Some(finish(class, folds, letter.is_ascii_uppercase()))
}

/// `[:alpha:]` and its like, from what stands between the colons.
pub(super) fn posix(name: &str, folds: bool) -> Result<ClassUnicode, RegexError> {
    let (name, negated) = match name.strip_prefix('^') {
        Some(name) => (name, true),
        None => (name, false),
    };
    let class = match name {
        "alnum" => set(&[('0', '9'), ('A', 'Z'), ('a', 'z')]),
        "alpha" => set(&[('A', 'Z'), ('a', 'z')]),
        "ascii" => set(&[('\0', '\x7F')]),
        "blank" => set(&[('\t', '\t'), (' ', ' ')]),
        "cntrl" => set(&[('\0', '\x1F'), ('\x7F', '\x7F')]),
        "digit" => set(&[('0', '9')]),
        "graph" => set(&[('!', '~')]),
        "lower" => set(&[('a', 'z')]),
        "print" => set(&[(' ', '~')]),
        "punct" => set(&[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
        "space" => set(&[('\t', '\r'), (' ', ' ')]),
        "upper" => set(&[('A', 'Z')]),
        "word" => set(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
        "xdigit" => set(&[('0', '9'), ('A', 'F'), ('a', 'f')]),
        _ => return Err(RegexError::ClassRange),
    };
    Ok(finish(class, folds, negated))
}

fn finish(mut class: ClassUnicode, folds: bool, negated: bool) -> ClassUnicode {
    if folds {
        fold_in_class(&mut class);
    }
    if negated {
        negate(&mut class);
    }
    class
}

/// `\p{Greek}`, from the name in the braces, which may begin with `^`.
pub(super) fn unicode(name: &str, folds: bool, negated: bool) -> Result<ClassUnicode, RegexError> {
    let (name, negated) = match name.strip_prefix('^') {
        Some(name) => (name, !negated),
        None => (name, negated),
    };
    let mut class = match name {
        "Any" => Some(any()),
        // Surrogates: a category, but of nothing that a text contains.
        "Cs" => Some(set(&[])),
        "C" | "L" | "M" | "N" | "P" | "S" | "Z" => table(|line| line.len() == 2 && line.starts_with(name)),
        _ => table(|line| line == name && !line.ends_with('+')),
    }
    .ok_or(RegexError::ClassRange)?;
    if folds && let Some(others) = table(|line| line.strip_suffix('+') == Some(name)) {
        class.union(&others);
    }
    if negated {
        negate(&mut class);
    }
    Ok(class)
}

/// All ranges of the lines with such names; none if there is no such line.
fn table(is_wanted: impl Fn(&str) -> bool) -> Option<ClassUnicode> {
    let mut class = None;
    for line in UNICODE.lines() {
        let mut words = line.split(' ');
        if words.next().is_some_and(&is_wanted) {
            let class = class.get_or_insert_with(|| set(&[]));
            words.filter_map(range).for_each(|range| class.push(range));
        }
    }
    class
}

fn range(word: &str) -> Option<ClassUnicodeRange> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let char = |text| u32::from_str_radix(text, 16).ok().and_then(char::from_u32);
    Some(ClassUnicodeRange::new(char(first)?, char(last)?))
}
