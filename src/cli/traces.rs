//! `coordsim random-trace`: writes the random trace of a seed.

use super::error::CliError;
use crate::trace::random::{GeneratorOptions, Kinds, generate};
use std::io::Write;
use std::path::PathBuf;

/// Writes a random trace: everything that may happen to a coordinator shard, mixed by a seed.
///
/// The same seed and options give the same trace on any machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  coordsim random-trace --seed 42 --events 100..600 --kafka 4.3.1 --out trace.jsonl")]
pub struct RandomTraceArgs {
    /// The seed that the trace follows from
    #[arg(long)]
    pub seed: u64,
    /// How many events: a number, or from..to (both included)
    #[arg(long, value_name = "FROM..TO", default_value = "100..600", value_parser = parse_events)]
    pub events: (u32, u32),
    /// The oldest Kafka version that must be able to replay it (3.9: no regular expressions) [default: 3.9, 4.1 with
    /// share or streams groups]
    #[arg(long, value_name = "VERSION", value_parser = parse_version)]
    pub kafka: Option<(u32, u32)>,
    /// The kinds of group: consumer, share, streams with commas between, or all; the seed draws one or more of them
    #[arg(long, value_name = "KINDS", default_value_t = Kinds::CONSUMER)]
    pub kinds: Kinds,
    /// The file to write [default: standard output]
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// Reads `100` or `100..600`.
pub(super) fn parse_events(text: &str) -> Result<(u32, u32), String> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    match (low.parse(), high.parse()) {
        (Ok(low), Ok(high)) if 1 <= low && low <= high => Ok((low, high)),
        _ => Err("must be a number of events like 300, or a range like 100..600".to_owned()),
    }
}

/// Reads a version's first two numbers.
fn parse_version(version: &str) -> Result<(u32, u32), String> {
    let mut parts = version.split('.').map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(3)), Some(Ok(9))) => Ok((3, 9)),
        (Some(Ok(4)), Some(Ok(minor))) => Ok((4, minor)),
        _ => Err("must be a version from 3.9 on, like 3.9.1 or 4.3".to_owned()),
    }
}

/// Writes the trace.
pub fn run(args: &RandomTraceArgs) -> Result<(), CliError> {
    let (events_min, events_max) = args.events;
    let kinds = args.kinds;
    let oldest = if kinds == Kinds::CONSUMER { (3, 9) } else { (4, 1) };
    let kafka = args.kafka.unwrap_or(oldest);
    if kafka < oldest {
        return Err(CliError::Input(vec![format!("--kinds {kinds}: Kafka has these from 4.1 on")]));
    }
    let replayable_by_3_9 = kafka == (3, 9);
    let text = generate(args.seed, &GeneratorOptions { events_min, events_max, replayable_by_3_9, kinds }).write();
    match &args.out {
        Some(path) => std::fs::write(path, text)?,
        None => std::io::stdout().write_all(text.as_bytes())?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn values() {
        assert_eq!(parse_events("7"), Ok((7, 7)));
        assert_eq!(parse_events("100..600"), Ok((100, 600)));
        for wrong in ["", "0", "5..4", "1...2", "a..b", "-1"] {
            assert!(parse_events(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_version("3.9.1"), Ok((3, 9)));
        assert_eq!(parse_version("4.3"), Ok((4, 3)));
        for wrong in ["3.8", "4", "x", "5.0"] {
            assert!(parse_version(wrong).is_err(), "{wrong}");
        }
    }

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        args: RandomTraceArgs,
    }

    #[test]
    fn arguments() {
        let parse = |text: &str| Command::try_parse_from(text.split(' ')).map(|command| command.args);
        let args = parse("random-trace --seed 5").expect("parses");
        assert_eq!((args.seed, args.events, args.kafka, args.out), (5, (100, 600), None, None));
        assert_eq!(args.kinds, Kinds::CONSUMER);
        let args = parse("random-trace --seed 5 --events 7..8 --kafka 4.3.1 --kinds share,streams --out x");
        let args = args.expect("parses");
        assert_eq!((args.events, args.kafka), ((7, 8), Some((4, 3))));
        assert_eq!(args.kinds.to_string(), "share,streams");
        assert_eq!(args.out, Some(PathBuf::from("x")));
        for wrong in ["", " --seed -1", " --seed 1 --events 0", " --seed 1 --kafka 2.8", " --seed 1 --kinds classic"] {
            assert!(parse(&format!("random-trace{wrong}")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_file_is_the_trace_of_the_seed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let out = folder.path().join("trace.jsonl");
        let kinds = Kinds::CONSUMER;
        let args = RandomTraceArgs { seed: 7, events: (20, 30), kafka: None, kinds, out: Some(out.clone()) };
        run(&args).expect("writes");
        let text = std::fs::read_to_string(&out).expect("reads");
        let options = GeneratorOptions { events_min: 20, events_max: 30, replayable_by_3_9: true, kinds };
        assert_eq!(crate::trace::Trace::parse("x", &text), Ok(generate(7, &options)));
        let kinds = "all".parse().expect("all kinds");
        let wrong = RandomTraceArgs { seed: 7, events: (20, 30), kafka: Some((4, 0)), kinds, out: None };
        assert!(matches!(run(&wrong), Err(CliError::Input(_))));
    }
}
