//! Axes: where values stand, and which of them are written.

use super::chart::{Axis, Scaling, Unit};

/// A tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Its value.
    pub at: f64,
    /// What is written there.
    pub label: String,
}

/// An axis with its ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    scaling: Scaling,
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
    /// Where they are in the drawing.
    pub from: f64,
    /// Where they are in the drawing.
    pub to: f64,
    /// What is written.
    pub ticks: Vec<Tick>,
    /// The label with its unit.
    pub label: String,
}

/// The least and the greatest of some values.
pub fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
    })
}

impl Scale {
    /// The scale of an axis for values in a range. `is_exact` says that it ends where they do.
    pub fn new(axis: &Axis, (low, high): (f64, f64), is_exact: bool, about: usize) -> Scale {
        match axis.scaling {
            Scaling::Linear => Scale::linear(axis, high, is_exact, about),
            Scaling::Log => Scale::log(axis, low, high),
        }
    }

    /// The same between two places.
    pub fn between(self, from: f64, to: f64) -> Scale {
        Scale { from, to, ..self }
    }

    fn linear(axis: &Axis, high: f64, is_exact: bool, about: usize) -> Scale {
        let high = if high > 0.0 { high } else { 1.0 };
        let (divisor, unit) = unit_for(axis.unit, high);
        let mut step = step(high / divisor, about, axis.unit);
        if axis.unit == Unit::Count && divisor == 1.0 {
            step = step.max(1.0);
        }
        let steps = high / divisor / step;
        let high = if is_exact { high } else { steps.ceil() * step * divisor };
        let last = if is_exact { steps.floor() } else { steps.ceil() };
        let number = |index: u64| index as f64 * step;
        let tick = |index| Tick { at: number(index) * divisor, label: decimal(number(index)) };
        let label = if unit.is_empty() { axis.label.clone() } else { format!("{} ({unit})", axis.label) };
        let ticks = (0..=last as u64).map(tick).collect();
        Scale { scaling: Scaling::Linear, low: 0.0, high, from: 0.0, to: 0.0, ticks, label }
    }

    fn log(axis: &Axis, low: f64, high: f64) -> Scale {
        let mut power = 1.0;
        while power > low {
            power /= 10.0;
        }
        while power * 10.0 <= low {
            power *= 10.0;
        }
        let mut all = Vec::new();
        while all.last().is_none_or(|last| *last < high) {
            all.extend([1.0, 2.0, 5.0].map(|digit| digit * power));
            power *= 10.0;
        }
        // The ends are the nearest ticks outside.
        let from = all.iter().rposition(|tick| *tick <= low).unwrap_or(0);
        let to = all.iter().position(|tick| *tick >= high).unwrap_or(all.len() - 1).max(from + 1).min(all.len() - 1);
        let within = &all[from..=to];
        let is_wide = within[within.len() - 1] / within[0] > 150.0;
        let shown = (from..=to).filter(|index| !is_wide || index % 3 == 0).map(|index| all[index]);
        let tick = |at| {
            let (divisor, unit) = unit_for(axis.unit, at);
            Tick { at, label: format!("{} {unit}", decimal(at / divisor)).trim_end().to_owned() }
        };
        let (low, high) = (within[0], within[within.len() - 1]);
        let ticks = shown.map(tick).collect();
        Scale { scaling: Scaling::Log, low, high, from: 0.0, to: 0.0, ticks, label: axis.label.clone() }
    }

    /// Where a value stands.
    pub fn place(&self, value: f64) -> f64 {
        let part = match self.scaling {
            Scaling::Linear => (value - self.low) / (self.high - self.low),
            Scaling::Log => libm::log10(value / self.low) / libm::log10(self.high / self.low),
        };
        self.from + part * (self.to - self.from)
    }
}

/// 1, 2, 5 or 10 times a power of ten (of seconds, minutes and hours 1, 2, 5, 10, 15, 20, 30, 60), so that there are about so many.
fn step(high: f64, about: usize, unit: Unit) -> f64 {
    let wanted = high / about as f64;
    if unit == Unit::Ms && wanted > 10.0 {
        let sixties = [15.0, 20.0, 30.0, 60.0, 120.0, 240.0];
        return sixties.into_iter().find(|step| *step >= wanted).unwrap_or(240.0);
    }
    let mut power = 1e-6;
    while power * 10.0 <= wanted {
        power *= 10.0;
    }
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|step| *step >= wanted * 0.999);
    step.unwrap_or(power * 10.0)
}

/// In which unit values up to `high` are written: by what to divide, and its name.
pub fn unit_for(unit: Unit, high: f64) -> (f64, &'static str) {
    let units: &[(f64, &'static str)] = match unit {
        Unit::Count => &[(1.0, ""), (1e4, "thousand"), (1e7, "million"), (1e10, "billion")],
        Unit::Bytes => &[(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")],
        Unit::Ms => &[(1.0, "ms"), (2e3, "s"), (3e5, "min"), (1.8e7, "h"), (6e8, "days")],
        Unit::Ns => &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")],
        Unit::Percent => &[(1.0, "%")],
    };
    let (from, name) = units.iter().rfind(|(from, _)| high >= *from).copied().unwrap_or(units[0]);
    let divisor = match name {
        "thousand" | "s" if unit != Unit::Ns => 1e3,
        "million" => 1e6,
        "billion" => 1e9,
        "min" => 6e4,
        "h" => 3.6e6,
        "days" => 8.64e7,
        _ => from,
    };
    (divisor, name)
}

/// A number with up to four decimals.
pub fn decimal(number: f64) -> String {
    let tenths = (number * 10_000.0).round() as i64;
    let (whole, part) = (tenths.abs() / 10_000, tenths.abs() % 10_000);
    let sign = if tenths < 0 { "−" } else { "" };
    let text = format!("{sign}{}.{part:04}", grouped(whole));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn grouped(number: i64) -> String {
    if number < 10_000 {
        return number.to_string();
    }
    format!("{},{:03}", grouped_all(number / 1000), number % 1000)
}

fn grouped_all(number: i64) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", grouped_all(number / 1000), number % 1000) }
}

/// A value with its unit, three digits or more.
pub fn in_words(unit: Unit, value: f64) -> String {
    let (divisor, name) = unit_for(unit, value);
    let number = value / divisor;
    let rounded = match number {
        _ if divisor == 1.0 || number >= 100.0 => number.round(),
        _ if number >= 10.0 => (number * 10.0).round() / 10.0,
        _ => (number * 100.0).round() / 100.0,
    };
    format!("{} {name}", decimal(rounded)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(unit: Unit, scaling: Scaling, range: (f64, f64), is_exact: bool) -> String {
        let axis = Axis { label: "x".to_owned(), unit, scaling };
        let scale = Scale::new(&axis, range, is_exact, 6);
        let ticks: Vec<String> = scale.ticks.into_iter().map(|tick| tick.label).collect();
        format!("{}: {}", scale.label, ticks.join(" "))
    }

    #[test]
    fn ticks_are_round() {
        let linear = |unit, high, is_exact| labels(unit, Scaling::Linear, (0.0, high), is_exact);
        assert_eq!(linear(Unit::Bytes, 51_348.0, false), "x (kB): 0 10 20 30 40 50 60");
        assert_eq!(linear(Unit::Ms, 600_000.0, true), "x (min): 0 2 4 6 8 10");
        assert_eq!(linear(Unit::Ms, 3_600_000.0, true), "x (min): 0 10 20 30 40 50 60");
        assert_eq!(linear(Unit::Ms, 100_000.0, true), "x (s): 0 20 40 60 80 100");
        assert_eq!(linear(Unit::Count, 3.0, false), "x: 0 1 2 3");
        assert_eq!(linear(Unit::Count, 0.0, false), "x: 0 1");
        assert_eq!(linear(Unit::Count, 45_000.0, false), "x (thousand): 0 10 20 30 40 50");
        assert_eq!(linear(Unit::Ns, 2_500.0, false), "x (µs): 0 0.5 1 1.5 2 2.5");
        let log = |unit, low, high| labels(unit, Scaling::Log, (low, high), false);
        assert_eq!(log(Unit::Bytes, 900.0, 12_000.0), "x: 500 B 1 kB 2 kB 5 kB 10 kB 20 kB");
        assert_eq!(log(Unit::Bytes, 3.0, 2e6), "x: 10 B 100 B 1 kB 10 kB 100 kB 1 MB");
        assert_eq!(log(Unit::Count, 7.0, 7.0), "x: 5 10");
    }

    #[test]
    fn places_are_in_proportion() {
        let axis = |scaling| Axis { label: String::new(), unit: Unit::Count, scaling };
        let linear = Scale::new(&axis(Scaling::Linear), (0.0, 10.0), true, 5).between(100.0, 200.0);
        assert_eq!([linear.place(0.0), linear.place(5.0), linear.place(10.0)], [100.0, 150.0, 200.0]);
        let log = Scale::new(&axis(Scaling::Log), (1.0, 100.0), true, 5).between(200.0, 100.0);
        assert_eq!([log.place(1.0), log.place(10.0), log.place(100.0)], [200.0, 150.0, 100.0]);
    }

    #[test]
    fn numbers_in_words() {
        assert_eq!(in_words(Unit::Bytes, 51_348.0), "51.3 kB");
        assert_eq!(in_words(Unit::Count, 1_234.0), "1234");
        assert_eq!([decimal(-1.5), decimal(0.25), decimal(12_345.0)], ["−1.5", "0.25", "12,345"]);
    }
}
