//! Units in words: durations (`"1h30m"`), rates (`"3/h"`), sizes (`"1MiB"`).

use crate::kernel::TimeMs;

/// Units of time, longest first.
const TIME_UNITS: [(&str, i64); 6] =
    [("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
const SIZE_UNITS: [(&str, i64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// How a duration is written.
pub(super) const DURATION_FORM: &str = "a duration such as \"250ms\", \"5s\" or \"1h30m\" (units w, d, h, m, s, ms)";
/// How a rate is written.
pub(super) const RATE_FORM: &str = "a rate such as \"3/h\", \"10/d\" or \"1/90m\"";
/// How a size is written.
pub(super) const SIZE_FORM: &str = "a size such as \"512B\", \"64KiB\" or \"1MiB\"";

/// How often something happens: so many times in so long a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many times, at least 1.
    pub times: u32,
    /// In how long, at least 1 ms.
    pub per_ms: TimeMs,
}

impl Rate {
    /// The mean time from one occurrence to the next.
    pub fn mean_gap_ms(self) -> f64 {
        self.per_ms as f64 / f64::from(self.times)
    }
}

/// A number followed by a unit; gives the rest of the text too.
fn quantity<'t>(text: &'t str, units: &[(&str, i64)]) -> Option<(i64, usize, &'t str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let number: i64 = text[..digits].parse().ok()?;
    let rest = &text[digits..];
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let index = units.iter().position(|(unit, _)| *unit == &rest[..letters])?;
    Some((number.checked_mul(units[index].1)?, index, &rest[letters..]))
}

/// A duration in milliseconds: numbers with units, each unit once, longest first.
pub fn duration_ms(text: &str) -> Option<TimeMs> {
    let (mut total, mut last, mut rest) = quantity(text, &TIME_UNITS)?;
    while !rest.is_empty() {
        let (more, index, after) = quantity(rest, &TIME_UNITS)?;
        if index <= last {
            return None;
        }
        total = total.checked_add(more)?;
        (last, rest) = (index, after);
    }
    Some(total)
}

/// A rate: a count, a slash, and a unit of time or a duration.
pub fn rate(text: &str) -> Option<Rate> {
    let (times, per) = text.split_once('/')?;
    let times = times.trim().parse().ok().filter(|times| *times > 0)?;
    let per = per.trim();
    let per_ms = TIME_UNITS.iter().find(|(unit, _)| *unit == per).map(|(_, ms)| *ms).or_else(|| duration_ms(per))?;
    (per_ms > 0).then_some(Rate { times, per_ms })
}

/// A size in bytes.
pub fn size_bytes(text: &str) -> Option<i64> {
    let (bytes, _, rest) = quantity(text, &SIZE_UNITS)?;
    rest.is_empty().then_some(bytes)
}

/// How many there are of something whose plural ends with s: `1 group`, `2 groups`.
pub fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A duration as a scenario writes it.
pub fn show_duration(time_ms: TimeMs) -> String {
    if time_ms <= 0 {
        return format!("{time_ms}ms");
    }
    let mut left = time_ms;
    let mut text = String::new();
    for (unit, ms) in TIME_UNITS {
        if left >= ms {
            text.push_str(&format!("{}{unit}", left / ms));
            left %= ms;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, expected) in [
            ("0ms", Some(0)),
            ("250ms", Some(250)),
            ("5s", Some(5_000)),
            ("1h30m", Some(5_400_000)),
            ("1w2d", Some(777_600_000)),
            ("1m500ms", Some(60_500)),
            ("5", None),
            ("", None),
            ("s", None),
            ("5 s", None),
            ("-5s", None),
            ("1.5s", None),
            ("5S", None),
            ("5sec", None),
            ("1s1m", None),
            ("1s1s", None),
            ("99999999999999999999s", None),
            ("9999999999999w", None),
            ("15250284452w15250284452d", None),
        ] {
            assert_eq!(duration_ms(text), expected, "{text}");
        }
    }

    #[test]
    fn rates() {
        assert_eq!(rate("3/h"), Some(Rate { times: 3, per_ms: 3_600_000 }));
        assert_eq!(rate("10 / d"), Some(Rate { times: 10, per_ms: 86_400_000 }));
        assert_eq!(rate("1/1h30m"), Some(Rate { times: 1, per_ms: 5_400_000 }));
        for wrong in ["0/h", "3", "3/", "/h", "3/0s", "-1/h", "1.5/h", "3/y"] {
            assert_eq!(rate(wrong), None, "{wrong}");
        }
        assert_eq!(rate("4/s").map(Rate::mean_gap_ms), Some(250.0));
    }

    #[test]
    fn plurals() {
        assert_eq!([0, 1, 2].map(|number| counted(number, "seed")), ["0 seeds", "1 seed", "2 seeds"]);
    }

    #[test]
    fn sizes() {
        assert_eq!(size_bytes("1MiB"), Some(1_048_576));
        assert_eq!(size_bytes("100B"), Some(100));
        for wrong in ["1MB", "1", "MiB", "1MiB1B", "9999999999GiB"] {
            assert_eq!(size_bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn durations_are_shown_as_they_are_written() {
        for text in ["5s", "1h30m", "1w1d1h1m1s1ms", "0ms"] {
            assert_eq!(duration_ms(text).map(show_duration).as_deref(), Some(text));
        }
    }
}
