//! A difference as somebody wants to see it: the smallest trace that still has it, and both outcomes.

use super::lane::{Lane, Plan};
use super::server::{Answer, Server};
use crate::trace::replay::Replayer;
use crate::trace::{Trace, shrink};
use std::fs;
use std::io;
use std::time::Duration;

/// The longest trace that is printed as a whole.
const PRINTED_BYTES: usize = 4_000;

/// Makes a seed's trace small, writes it and both outcomes, and says what differs.
pub fn show(lane: &Lane, seed: u64, plan: &Plan, server: &mut Server) -> io::Result<String> {
    let trace = lane.trace(seed, plan);
    let events = trace.events.len();
    let small = smaller(lane, trace, plan.shrink, server)?;
    let text = small.write();
    let real = server.ask(&text)?;
    let comparison = lane.compare(&small, &real)?.comparison;
    let (version, strategy) = (lane.version.name(), &lane.strategy.name);
    let suffix = if lane.is_uncached() { "-recompute" } else { "" };
    let folder = plan.out.join(format!("{seed}-{version}{suffix}"));
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("trace.jsonl"), &text)?;
    let (Answer::Outcomes(real) | Answer::Refused(real)) = real;
    fs::write(folder.join(format!("{version}.jsonl")), real)?;
    fs::write(folder.join("simulated.jsonl"), ours(lane, &small))?;
    let printed = if text.len() <= PRINTED_BYTES { text.as_str() } else { "" };
    let folder = folder.display();
    let left = small.events.len();
    Ok(format!(
        "seed {seed}, {version} {strategy}: {left} of {events} events are left, in {folder}\n{printed}\
         expected: real Kafka; actual: the simulator\n{comparison}\n"
    ))
}

fn ours(lane: &Lane, trace: &Trace) -> String {
    let mut text = String::new();
    match Replayer::new(trace, lane.version, lane.strategy.design) {
        Ok(replayer) => replayer.run(|line| line.write(&mut text)),
        Err(wrong) => wrong.iter().for_each(|error| text += &format!("{error}\n")),
    }
    text
}

/// The smallest trace that still differs and is found in time.
#[expect(clippy::disallowed_types, reason = "the time box says when to stop; the trace it ends with is checked anew")]
fn smaller(lane: &Lane, trace: Trace, within: Duration, server: &mut Server) -> io::Result<Trace> {
    let start = std::time::Instant::now();
    let mut problem = None;
    let mut asked = |candidate: &Trace| {
        if problem.is_some() || start.elapsed() > within {
            return None;
        }
        let answer = server.ask(&candidate.write()).and_then(|real| lane.compare(candidate, &real));
        answer.map_err(|error| problem = Some(error)).ok()
    };
    // What comes after the first difference goes first: it may be long.
    let mut cut = trace.clone();
    if let Some(event) = asked(&trace).and_then(|found| found.event) {
        cut.events.truncate(event + 1);
    }
    let cut = if asked(&cut).is_some_and(|found| found.differs()) { cut } else { trace };
    let small = shrink(&cut, |candidate| asked(candidate).is_some_and(|found| found.differs()));
    problem.map_or(Ok(small), Err)
}
