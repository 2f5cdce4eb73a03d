//! RE2/J's syntax (`Parser`, with the flags of `Pattern.compile`), to the high-level form of `regex-syntax`.
//!
//! Groups capture nothing, and lazy is as good as greedy: Kafka only asks whether the whole name matches.

use super::class;
use super::{RegexError, Release};
use regex_syntax::hir::{Class, ClassUnicode, Hir, Look, Repetition};

/// How deep sequences, alternatives and repetitions may nest: the automaton's compiler recurses as deep, and needs
/// about 10 kB of stack a level in a debug build. Groups around a single thing do not count.
const MAX_DEPTH: usize = 100;

/// Most repetitions that `{…}` may ask for.
const MAX_REPEATS: u32 = 1000;

/// The flags that can change what matches; `(?U)` cannot.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    /// `i`
    folds: bool,
    /// `m`
    multi_line: bool,
    /// `s`
    dot_matches_newline: bool,
}

/// A piece of the expression, with the depth of what is in it.
#[derive(Debug)]
struct Item {
    hir: Hir,
    depth: usize,
}

impl Item {
    fn of_all(items: Vec<Item>, join: impl FnOnce(Vec<Hir>) -> Hir) -> Result<Item, RegexError> {
        let is_one = items.len() == 1;
        let depth = items.iter().map(|item| item.depth).max().unwrap_or(0) + usize::from(!is_one);
        let hir = join(items.into_iter().map(|item| item.hir).collect());
        if depth > MAX_DEPTH { Err(RegexError::TooDeep) } else { Ok(Item { hir, depth }) }
    }
}

/// An open group, or the whole expression.
#[derive(Debug, Default)]
struct Group {
    /// The alternatives that a `|` has ended.
    alternatives: Vec<Item>,
    /// What stands in the present one.
    sequence: Vec<Item>,
    /// The flags to return to after the group.
    flags_outside: Flags,
}

impl Group {
    fn end_alternative(&mut self) -> Result<(), RegexError> {
        let sequence = std::mem::take(&mut self.sequence);
        self.alternatives.push(Item::of_all(sequence, Hir::concat)?);
        Ok(())
    }

    fn into_item(mut self) -> Result<Item, RegexError> {
        self.end_alternative()?;
        Item::of_all(self.alternatives, Hir::alternation)
    }
}

/// Reads one expression.
pub(super) struct Parser<'a> {
    rest: &'a str,
    release: Release,
    flags: Flags,
    /// The open groups, the innermost last, outside the present one.
    outer: Vec<Group>,
    group: Group,
    names: Vec<&'a str>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(expression: &'a str, release: Release) -> Self {
        let (flags, outer, group, names) = Default::default();
        Parser { rest: expression, release, flags, outer, group, names }
    }

    /// The whole expression.
    pub(super) fn parse(mut self) -> Result<Hir, RegexError> {
        let mut after_repetition = false;
        while let Some(c) = self.next() {
            match c {
                '(' => self.open_group()?,
                ')' => self.close_group()?,
                '|' => self.group.end_alternative()?,
                '^' => self.look(if self.flags.multi_line { Look::StartLF } else { Look::Start }),
                '$' => self.look(if self.flags.multi_line { Look::EndLF } else { Look::End }),
                '.' if self.flags.dot_matches_newline => self.push_class(class::any()),
                '.' => self.push_class(class::set(&[('\0', '\x09'), ('\x0B', char::MAX)])),
                '[' => self.class()?,
                '\\' => self.escape()?,
                '*' | '+' | '?' | '{' => {
                    let bounds = match c {
                        '*' => Some((0, None)),
                        '+' => Some((1, None)),
                        '?' => Some((0, Some(1))),
                        _ => self.counts()?,
                    };
                    match bounds {
                        Some((min, max)) => self.repeat(min, max, after_repetition)?,
                        None => self.literal('{'),
                    }
                }
                _ => self.literal(c),
            }
            // RE2/J counts a `{` that is a plain character as a repetition here: `{+` is refused.
            after_repetition = matches!(c, '*' | '+' | '?' | '{');
        }
        if self.outer.is_empty() { Ok(self.group.into_item()?.hir) } else { Err(RegexError::UnclosedGroup) }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn skip(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn push(&mut self, hir: Hir) {
        self.group.sequence.push(Item { hir, depth: 0 });
    }

    fn push_class(&mut self, class: ClassUnicode) {
        self.push(Hir::class(Class::Unicode(class)));
    }

    fn look(&mut self, look: Look) {
        self.push(Hir::look(look));
    }

    fn literal(&mut self, c: char) {
        self.push_code_point(u32::from(c));
    }

    fn push_code_point(&mut self, c: u32) {
        let mut class = class::code_points(c, c);
        if self.flags.folds {
            class::fold(&mut class);
        }
        self.push_class(class);
    }

    /// Repeats the last item; the operator is read, but for the `?` that makes it lazy.
    fn repeat(&mut self, min: u32, max: Option<u32>, after_repetition: bool) -> Result<(), RegexError> {
        self.skip("?");
        if after_repetition {
            return Err(RegexError::NestedRepetition);
        }
        let Item { hir, depth } = self.group.sequence.pop().ok_or(RegexError::NothingToRepeat)?;
        let depth = depth + 1;
        if depth > MAX_DEPTH {
            return Err(RegexError::TooDeep);
        }
        let hir = Hir::repetition(Repetition { min, max, greedy: true, sub: Box::new(hir) });
        self.group.sequence.push(Item { hir, depth });
        Ok(())
    }

    /// The bounds of `{2}`, `{2,}` or `{2,3}` after its `{`; none if that is a plain character.
    fn counts(&mut self) -> Result<Option<(u32, Option<u32>)>, RegexError> {
        let Some((inside, rest)) = self.rest.split_once('}') else { return Ok(None) };
        let (min, max) = inside.split_once(',').unwrap_or((inside, inside));
        let is_number =
            |text: &str| text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
        if !is_number(min) || min.is_empty() || !is_number(max) {
            return Ok(None);
        }
        self.rest = rest;
        let count = |text: &str| text.parse().ok().filter(|&n| n <= MAX_REPEATS).ok_or(RegexError::RepeatCount);
        let min = count(min)?;
        let max = if max.is_empty() { None } else { Some(count(max)?) };
        if max.is_some_and(|max| min > max) { Err(RegexError::RepeatCount) } else { Ok(Some((min, max))) }
    }

    /// After a `(`.
    fn open_group(&mut self) -> Result<(), RegexError> {
        let flags_outside = self.flags;
        if self.rest.starts_with("?P<") || self.release == Release::V1_8 && self.rest.starts_with("?<") {
            self.group_name()?;
        } else if self.skip("?") && !self.flags()? {
            return Ok(());
        }
        let group = Group { flags_outside, ..Group::default() };
        self.outer.push(std::mem::replace(&mut self.group, group));
        Ok(())
    }

    fn close_group(&mut self) -> Result<(), RegexError> {
        let outer = self.outer.pop().ok_or(RegexError::UnopenedGroup)?;
        let group = std::mem::replace(&mut self.group, outer);
        self.flags = group.flags_outside;
        self.group.sequence.push(group.into_item()?);
        Ok(())
    }

    fn group_name(&mut self) -> Result<(), RegexError> {
        let (start, rest) = self.rest.split_once('>').ok_or(RegexError::GroupName)?;
        let name = start.strip_prefix("?P<").or_else(|| start.strip_prefix("?<")).unwrap_or(start);
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(RegexError::GroupName);
        }
        if self.names.contains(&name) {
            return Err(RegexError::DuplicateName);
        }
        self.names.push(name);
        self.rest = rest;
        Ok(())
    }

    /// The flags after `(?`; whether a group follows, rather than the `)`.
    fn flags(&mut self) -> Result<bool, RegexError> {
        let mut flags = self.flags;
        let mut on = true;
        let mut may_end = true;
        while let Some(c) = self.next() {
            match c {
                'i' => flags.folds = on,
                'm' => flags.multi_line = on,
                's' => flags.dot_matches_newline = on,
                'U' => {}
                '-' if on => {
                    on = false;
                    may_end = false;
                    continue;
                }
                ':' | ')' if may_end => {
                    self.flags = flags;
                    return Ok(c == ':');
                }
                _ => break,
            }
            may_end = true;
        }
        Err(RegexError::PerlSyntax)
    }

    /// After a `\` outside a class.
    fn escape(&mut self) -> Result<(), RegexError> {
        if let Some(class) = self.named_escape()? {
            self.push_class(class);
            return Ok(());
        }
        let before = self.rest;
        match self.next() {
            Some('A') => self.look(Look::Start),
            Some('z') => self.look(Look::End),
            Some('b') => self.look(Look::WordAscii),
            Some('B') => self.look(Look::WordAsciiNegate),
            Some('Q') => {
                let (quoted, rest) = self.rest.split_once(r"\E").unwrap_or((self.rest, ""));
                quoted.chars().for_each(|c| self.literal(c));
                self.rest = rest;
            }
            _ => {
                self.rest = before;
                let c = self.escaped_code_point()?;
                self.push_code_point(c);
            }
        }
        Ok(())
    }

    /// `d`, `pL` or `p{Greek}`, and their like, after a `\`.
    fn named_escape(&mut self) -> Result<Option<ClassUnicode>, RegexError> {
        let before = self.rest;
        let Some(letter) = self.next() else { return Ok(None) };
        if !matches!(letter, 'p' | 'P') {
            let class = class::perl(letter, self.flags.folds);
            if class.is_none() {
                self.rest = before;
            }
            return Ok(class);
        }
        let name_at = self.rest;
        let name = match self.next().ok_or(RegexError::ClassRange)? {
            '{' => {
                let (name, rest) = self.rest.split_once('}').ok_or(RegexError::ClassRange)?;
                self.rest = rest;
                name
            }
            c => &name_at[..c.len_utf8()],
        };
        class::unicode(name, self.flags.folds, letter == 'P').map(Some)
    }

    /// After a `\`: the code point (a surrogate, perhaps) that the escape stands for.
    fn escaped_code_point(&mut self) -> Result<u32, RegexError> {
        let c = self.next().ok_or(RegexError::TrailingBackslash)?;
        match c {
            'a' => Ok(0x07),
            'f' => Ok(0x0C),
            'n' => Ok(0x0A),
            'r' => Ok(0x0D),
            't' => Ok(0x09),
            'v' => Ok(0x0B),
            'x' => self.hexadecimal(),
            // A single digit other than 0 would be a back reference.
            '0'..='7' if c == '0' || self.rest.starts_with(is_octal) => {
                let mut value = u32::from(c) - u32::from('0');
                for _ in 0..2 {
                    let Some(digit) = self.rest.chars().next().filter(|&c| is_octal(c)) else { break };
                    self.next();
                    value = value * 8 + u32::from(digit) - u32::from('0');
                }
                Ok(value)
            }
            _ if c.is_ascii_alphanumeric() => Err(RegexError::Escape),
            _ => Ok(u32::from(c)),
        }
    }

    /// Two digits, or any number in braces, after `\x`.
    fn hexadecimal(&mut self) -> Result<u32, RegexError> {
        let digits = if self.skip("{") {
            let (digits, rest) = self.rest.split_once('}').ok_or(RegexError::Escape)?;
            self.rest = rest;
            digits
        } else {
            let (digits, rest) = self.rest.split_at_checked(2).ok_or(RegexError::Escape)?;
            self.rest = rest;
            digits
        };
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(RegexError::Escape);
        }
        let value = u32::from_str_radix(digits, 16).map_err(|_| RegexError::Escape)?;
        if value <= u32::from(char::MAX) { Ok(value) } else { Err(RegexError::Escape) }
    }

    /// After a `[`.
    fn class(&mut self) -> Result<(), RegexError> {
        let negated = self.skip("^");
        let mut class = class::set(&[]);
        let mut is_first = true;
        while is_first || !self.skip("]") {
            is_first = false;
            class.union(&self.class_item()?);
        }
        if negated {
            class::negate(&mut class);
        }
        self.push_class(class);
        Ok(())
    }

    fn class_item(&mut self) -> Result<ClassUnicode, RegexError> {
        if self.rest.starts_with("[:")
            && let Some(end) = self.rest.find(":]")
        {
            let name = self.rest.get(2..end).ok_or(RegexError::ClassRange)?;
            self.rest = &self.rest[end + 2..];
            return class::posix(name, self.flags.folds);
        }
        let before = self.rest;
        if self.skip("\\") {
            if let Some(class) = self.named_escape()? {
                return Ok(class);
            }
            self.rest = before;
        }
        let first = self.class_code_point()?;
        let last = if self.rest.starts_with('-') && !self.rest.starts_with("-]") {
            self.next();
            self.class_code_point()?
        } else {
            first
        };
        if last < first {
            return Err(RegexError::ClassRange);
        }
        let mut range = class::code_points(first, last);
        if self.flags.folds {
            class::fold_in_class(&mut range);
        }
        Ok(range)
    }

    fn class_code_point(&mut self) -> Result<u32, RegexError> {
        match self.next().ok_or(RegexError::UnclosedClass)? {
            '\\' => self.escaped_code_point(),
            c => Ok(u32::from(c)),
        }
    }
}

fn is_octal(c: char) -> bool {
    matches!(c, '0'..='7')
}
