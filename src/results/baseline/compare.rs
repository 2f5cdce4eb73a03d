//! What of a run is not as its baseline says.

use super::{Baseline, EVENTS, StrategyBaseline};
use std::ops::Range;

/// What is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Every scenario runs, and its figures are sane.
    Smoke,
    /// What happened, event by event.
    Fingerprint,
    /// Every figure.
    Cost,
    /// The tables behind pictures.
    Plots,
    /// How many instructions a run takes.
    Speed,
}

impl Kind {
    /// All of them, in order.
    pub const ALL: [Kind; 5] = [Kind::Smoke, Kind::Fingerprint, Kind::Cost, Kind::Plots, Kind::Speed];
    /// Those that are the same on every machine.
    pub const EXACT: [Kind; 4] = [Kind::Smoke, Kind::Fingerprint, Kind::Cost, Kind::Plots];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Smoke => "smoke",
            Kind::Fingerprint => "fingerprint",
            Kind::Cost => "cost",
            Kind::Plots => "plots",
            Kind::Speed => "speed",
        }
    }
}

/// Where two sequences part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parting {
    /// Of what: `events`, or a table.
    pub of: String,
    /// The items among which the first different one is, from 0.
    pub items: Range<usize>,
    /// How many items the baseline has, and how many the run.
    pub lengths: (usize, usize),
}

/// Something that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// In what kind of check.
    pub kind: Kind,
    /// The strategy; none if it is about the whole scenario.
    pub strategy: Option<String>,
    /// The figure or the sequence.
    pub metric: String,
    /// What the baseline says; `None`: nothing.
    pub old: Option<String>,
    /// What the run says; `None`: nothing.
    pub new: Option<String>,
    /// How much the figure changed.
    pub change: Option<String>,
    /// Where the sequence parts.
    pub parting: Option<Parting>,
}

/// Everything in which a run differs from its baseline, smoke apart. `within` has by how many millionths of the old value
/// each figure may differ, if not at all.
pub fn compare(old: &Baseline, new: &Baseline, within: &dyn Fn(&str) -> Option<u64>) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut text = |metric: &str, strategy: Option<&str>, old: Option<String>, new: Option<String>| {
        if old != new {
            let (metric, strategy) = (metric.to_owned(), strategy.map(str::to_owned));
            found.push(Difference { kind: Kind::Cost, strategy, metric, old, new, change: None, parting: None });
        }
    };
    text("seed", None, Some(old.seed.to_string()), Some(new.seed.to_string()));
    text("kafka", None, Some(old.kafka.clone()), Some(new.kafka.clone()));
    let names = |of: &Baseline| of.strategies.iter().map(|s| s.name.clone()).collect::<Vec<_>>();
    for name in names(old).iter().filter(|name| new.strategy(name).is_none()) {
        text("strategy", Some(name), Some("there".to_owned()), None);
    }
    for name in names(new).iter().filter(|name| old.strategy(name).is_none()) {
        text("strategy", Some(name), None, Some("there".to_owned()));
    }
    for new in &new.strategies {
        if let Some(old) = old.strategy(&new.name) {
            compare_chains(old, new, &mut found);
            compare_figures(old, new, within, &mut found);
        }
    }
    found.sort_by_key(|difference| difference.kind);
    found
}

fn compare_figures(
    old: &StrategyBaseline,
    new: &StrategyBaseline,
    within: &dyn Fn(&str) -> Option<u64>,
    found: &mut Vec<Difference>,
) {
    let gone = old.figures.iter().map(|(name, _)| name).filter(|name| new.figure(name).is_none());
    for name in new.figures.iter().map(|(name, _)| name).chain(gone) {
        let (before, now) = (old.figure(name), new.figure(name));
        let is_same = match (before, now) {
            (Some(before), Some(now)) => is_within(before, now, within(name).unwrap_or(0)),
            _ => before == now,
        };
        if !is_same {
            found.push(Difference {
                kind: Kind::Cost,
                strategy: Some(new.name.clone()),
                metric: name.clone(),
                old: before.map(|value| value.to_string()),
                new: now.map(|value| value.to_string()),
                change: before.zip(now).map(|(before, now)| change(before, now)),
                parting: None,
            });
        }
    }
}

/// Whether a figure differs by at most so many millionths of what it was.
pub fn is_within(old: i64, new: i64, millionths: u64) -> bool {
    let (old, new) = (i128::from(old), i128::from(new));
    (new - old).abs() * 1_000_000 <= old.abs() * i128::from(millionths)
}

/// By how much a figure changed: `+12 (+0.500 %)`.
pub fn change(old: i64, new: i64) -> String {
    let by = i128::from(new) - i128::from(old);
    if old == 0 {
        return format!("{by:+}");
    }
    let percent = by as f64 * 100.0 / old.abs() as f64;
    format!("{by:+} ({percent:+.3} %)")
}

fn compare_chains(old: &StrategyBaseline, new: &StrategyBaseline, found: &mut Vec<Difference>) {
    for (name, now) in &new.chains {
        let kind = if name == EVENTS { Kind::Fingerprint } else { Kind::Plots };
        let before = old.chain(name);
        let items = before.map_or(Some(0..1), |before| before.parting(now));
        let Some(items) = items else { continue };
        let shown = |chain: &super::Chain| format!("{:016x} ({})", chain.fingerprint, chain.len);
        found.push(Difference {
            kind,
            strategy: Some(new.name.clone()),
            metric: name.clone(),
            old: before.map(shown),
            new: Some(shown(now)),
            change: None,
            parting: Some(Parting { of: name.clone(), items, lengths: (before.map_or(0, |b| b.len), now.len) }),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::Chain;
    use super::*;

    fn baseline(bumps: i64, events: &[u64]) -> Baseline {
        let strategy = StrategyBaseline {
            name: "ideal".to_owned(),
            figures: vec![("epoch_bumps".to_owned(), bumps)],
            chains: vec![(EVENTS.to_owned(), Chain::new(events.iter().copied()))],
        };
        Baseline { scenario: "s".to_owned(), seed: 1, kafka: "4.3.1".to_owned(), strategies: vec![strategy] }
    }

    #[test]
    fn differences_name_figure_change_and_event() {
        assert_eq!(compare(&baseline(200, &[1, 2]), &baseline(200, &[1, 2]), &|_| None), []);
        let found = compare(&baseline(200, &[1, 2]), &baseline(201, &[1, 3]), &|_| None);
        assert_eq!(found.iter().map(|d| d.kind).collect::<Vec<_>>(), [Kind::Fingerprint, Kind::Cost]);
        assert_eq!(found[0].parting.as_ref().map(|p| p.items.clone()), Some(1..2));
        assert_eq!(found[1].metric, "epoch_bumps");
        assert_eq!(found[1].change.as_deref(), Some("+1 (+0.500 %)"));
    }

    #[test]
    fn a_tolerance_is_of_the_old_value() {
        let found = |new, within| compare(&baseline(200, &[1]), &baseline(new, &[1]), &|_| Some(within)).len();
        assert_eq!([found(202, 10_000), found(203, 10_000), found(198, 10_000), found(197, 10_000)], [0, 1, 0, 1]);
        assert!(is_within(0, 0, 0) && !is_within(0, 1, 500_000));
    }
}
