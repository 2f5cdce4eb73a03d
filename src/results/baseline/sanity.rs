//! What must hold of every run, whatever the scenario.

use crate::cost::Operation;
use crate::results::{RunResults, Summary};
use crate::simulation::Totals;
use crate::strategy::Strategy;

/// What is not sane about a run, each with the strategy.
pub fn insanities(run: &RunResults) -> Vec<(String, String)> {
    let of = |(strategy, totals): &(Strategy, Totals)| {
        let wrong = insanities_of(&Summary::new(run, strategy, totals), totals);
        wrong.into_iter().map(|wrong| (strategy.name.clone(), wrong)).collect::<Vec<_>>()
    };
    run.strategies.iter().flat_map(of).collect()
}

fn insanities_of(row: &Summary, totals: &Totals) -> Vec<String> {
    let sum = |of: fn(&crate::simulation::Bucket) -> u64| totals.timeline.iter().map(of).sum::<u64>();
    let at_most = |less: &str, value: u64, more: &str, limit: u64| {
        (value > limit).then(|| format!("{less} is {value}, more than {more}, {limit}"))
    };
    let equal = |one: &str, value: u64, other: &str, expected: u64| {
        (value != expected).then(|| format!("{one} is {value}, and {other} {expected}"))
    };
    let shares = row.strategy_bytes + row.rebalance_bytes;
    let judged = row.idle_bumps + row.unjudged_bumps;
    [
        (row.groups > 0 && row.heartbeats == 0).then(|| "no heartbeat reached a coordinator".to_owned()),
        at_most("idle_bumps and unjudged_bumps", judged, "epoch_bumps", row.epoch_bumps),
        at_most("needless_bumps", row.needless_bumps, "epoch_bumps", row.epoch_bumps),
        at_most("epoch_bumps", row.epoch_bumps, "records", row.records),
        at_most("strategy_bytes and rebalance_bytes", shares, "appended_bytes", row.appended_bytes),
        at_most("log_final_bytes", row.log_final_bytes, "log_peak_bytes", row.log_peak_bytes),
        at_most("failed loads", totals.happened.failed_loads, "loads", totals.happened.loads),
        equal("the timeline's heartbeats", sum(|b| b.counts[Operation::Heartbeat]), "heartbeats", row.heartbeats),
        equal("the timeline's epoch_bumps", sum(|b| b.epoch_bumps), "epoch_bumps", row.epoch_bumps),
        equal("the timeline's appended_bytes", sum(|b| b.appended_bytes), "appended_bytes", row.appended_bytes),
        equal("the timeline's topic_hashes", sum(|b| b.counts[Operation::TopicHash]), "topic_hashes", row.topic_hashes),
    ]
    .into_iter()
    .flatten()
    .collect()
}
