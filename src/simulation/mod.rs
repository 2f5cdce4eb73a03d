//! Joins history and fleet with coordinator shards: for each strategy and shard, independently and in parallel, a loop
//! of events, and totals of what came of it. Results are the same bytes on any number of threads: shards share nothing, and
//! totals are sums.

mod clients;
mod commits;
mod evidence;
mod fingerprint;
mod fold;
mod leadership;
mod missed;
mod parking;
#[cfg(test)]
mod parking_tests;
mod subject;
mod tape;
#[cfg(test)]
mod tests;
mod totals;
mod world;

pub use evidence::{Values, Written};
pub use fingerprint::Watch;
pub use subject::{LogOptions, ShardGroups, Subject, shard_of};
pub use tape::{Happening, Tape};
pub use totals::{
    Bucket, BumpTotals, Effect, Happenings, LargeWrite, LoadTotals, RecordTotals, ShardLog, ShardWork, Totals,
    WrongWork,
};

use crate::kafka::{GroupKind, JString};
use crate::strategy::{Design, Memo, Strategy};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};
use world::World;

/// Simulates all strategies; gives the totals of each, in their order. `done` is told of every world that is done, of as
/// many as [`num_worlds`] says.
pub fn simulate(subject: &Subject, strategies: &[Strategy], done: &(dyn Fn() + Sync)) -> Vec<Totals> {
    simulate_and(subject, strategies, None, done)
}

/// The same, with the effects of all shards.
pub fn simulate_watched(
    subject: &Subject,
    strategies: &[Strategy],
    watch: &Watch,
    done: &(dyn Fn() + Sync),
) -> Vec<Totals> {
    simulate_and(subject, strategies, Some(watch), done)
}

fn simulate_and(
    subject: &Subject,
    strategies: &[Strategy],
    watch: Option<&Watch>,
    done: &(dyn Fn() + Sync),
) -> Vec<Totals> {
    let shards = subject.shards();
    let worlds: Vec<(usize, &[ShardGroups])> = strategies
        .iter()
        .enumerate()
        .flat_map(|(strategy, named)| shards.chunks(world_size(named.design, shards.len())).map(move |w| (strategy, w)))
        .collect();
    // Sums do not depend on the order in which worlds are done, and bumps are put in order at the end.
    let new = || Mutex::new(Totals::new(subject.num_buckets()));
    let all: Vec<Mutex<Totals>> = strategies.iter().map(|_| new()).collect();
    worlds.into_par_iter().for_each(|(strategy, shards)| {
        let mut world = World::new(subject, strategies[strategy].design, shards);
        watch.iter().for_each(|watch| world.watch(watch));
        let (totals, _) = world.run();
        all[strategy].lock().unwrap_or_else(PoisonError::into_inner).add(totals);
        done();
    });
    let mut all: Vec<Totals> =
        all.into_iter().map(|totals| totals.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
    all.par_iter_mut().for_each(|totals| {
        totals.sort();
        if let Some(profile) = subject.waiting {
            totals.serve(profile, subject.threads, subject.end_ms);
        }
    });
    all
}

/// The log of a shard at the end of a run, and what of it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardFiles {
    /// The shard.
    pub number: i32,
    /// The files of its segments, each with its first offset.
    pub segments: Vec<(i64, Vec<u8>)>,
    /// Its groups, in the order of their names; none if it has no coordinator then.
    pub groups: Vec<GroupAtEnd>,
}

/// A group at the end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupAtEnd {
    /// Its name.
    pub name: JString,
    /// Its kind.
    pub kind: GroupKind,
    /// Its epoch.
    pub epoch: i32,
    /// How many members it has.
    pub members: usize,
}

/// The logs of all shards that have groups, in order, for one strategy. `done` is told of every world that is done, of as many
/// as [`num_worlds`] says.
pub fn logs(subject: &Subject, strategy: &Strategy, done: &(dyn Fn() + Sync)) -> Vec<ShardFiles> {
    let shards = subject.shards();
    let worlds: Vec<&[ShardGroups]> = shards.chunks(world_size(strategy.design, shards.len())).collect();
    let run = |shards: &&[ShardGroups]| {
        let files = World::new(subject, strategy.design, shards).run_for_files();
        done();
        files
    };
    worlds.par_iter().map(run).collect::<Vec<_>>().into_iter().flatten().collect()
}

/// How many worlds [`simulate`] runs.
pub fn num_worlds(subject: &Subject, strategies: &[Strategy]) -> usize {
    let shards = subject.shards().len();
    strategies.iter().map(|strategy| shards.div_ceil(world_size(strategy.design, shards))).sum()
}

/// Everything that happens to one shard, for a strategy.
pub fn record(subject: &Subject, design: Design, shard: i32) -> (Totals, Tape) {
    let groups = subject.shards().into_iter().find(|groups| groups.number == shard);
    let groups = groups.unwrap_or(ShardGroups { number: shard, groups: Vec::new() });
    let (totals, tape) = World::taped(subject, design, groups).run();
    (totals, tape.unwrap_or_default())
}

/// How many shards are simulated together: all, if those of a broker share what they remember.
fn world_size(design: Design, shards: usize) -> usize {
    if design.memo() == Memo::Broker { shards.max(1) } else { 1 }
}
