//! `coordsim replay`: outcomes of a trace on standard output.

use super::bench;
use super::error::CliError;
use super::files;
use super::inputs;
use crate::coordinator::KafkaVersion;
use crate::cost::heap::{Bytes, Count};
use crate::cost::{Operation, Profile};
use crate::strategy::Strategy;
use crate::strategy::axes::PRESETS;
use crate::trace::Trace;
use crate::trace::replay::Replayer;
use std::io::Write;
use std::path::PathBuf;

/// Replays a trace and prints what the coordinator answers and writes.
///
/// A trace that `coordsim trace` wrote is closed-loop: its members react to what they were answered under one strategy and
/// Kafka version. Replay it with the same ones; with others it makes no sense.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  coordsim replay trace.jsonl --strategy cached-hash --kafka 4.3.1 > outcomes.jsonl\n  \
    coordsim replay trace.jsonl --strategy cached-hash --kafka 4.3.1 --bench 20 --from 60000\n  \
    coordsim replay trace.jsonl --strategy recompute --kafka 4.3.1 --operations"
)]
pub struct ReplayArgs {
    /// The trace.
    trace: PathBuf,
    /// The strategy, one of the presets.
    #[arg(long)]
    strategy: String,
    /// The Kafka version that everything else follows.
    #[arg(long)]
    kafka: String,
    /// Measure instead: this many replays without output, after a second of warm-up; prints nanoseconds an event.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    bench: Option<u32>,
    /// Print what the shard holds in memory in the end instead, by component and class of Java object, as CSV.
    #[arg(long, conflicts_with_all = ["bench", "operations"])]
    heap: bool,
    /// Count instead: what the coordinator did, and what that costs by the cost profile, as CSV.
    #[arg(long, conflicts_with = "bench")]
    operations: bool,
    /// The cost profile [default: one of real Kafka 4.3.1]
    #[arg(long, value_name = "FILE", requires = "operations")]
    profile: Option<PathBuf>,
    /// Measure or count only the events at or after this time of the trace, in ms.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    from: i64,
}

/// Reads a trace. What does not even begin with JSON is something else: then nothing is said of its lines.
fn parse(file: &str, text: &str) -> Result<Trace, Vec<String>> {
    let first = text.lines().next();
    if first.is_some_and(|line| serde_json::from_str::<serde::de::IgnoredAny>(line).is_err()) {
        let hint = "`coordsim trace SCENARIO --out FILE` writes the trace of a scenario";
        return Err(vec![format!(
            "{file} is no trace: its first line is not JSON; expected {{\"trace\":1,…}} ({hint})"
        )]);
    }
    Trace::parse(file, text).map_err(|wrong| wrong.iter().map(ToString::to_string).collect())
}

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Result<(), CliError> {
    let mut errors = Vec::new();
    let strategy = Strategy::preset(&args.strategy);
    if strategy.is_none() {
        errors.push(format!("unknown strategy {:?}: one of {}", args.strategy, PRESETS.join(", ")));
    }
    let version = args.kafka.parse::<KafkaVersion>().map_err(|e| errors.push(e.to_string()));
    let file = args.trace.display().to_string();
    let trace = match files::read_text(&args.trace) {
        Ok(text) => parse(&file, &text).map_err(|wrong| errors.extend(wrong)),
        Err(wrong) => {
            errors.push(wrong);
            Err(())
        }
    };
    let profile = args.profile.as_deref().map_or_else(|| Ok(Profile::shipped()), inputs::read_profile);
    let profile = profile.map_err(|wrong| errors.extend(wrong));
    let (Some(strategy), Ok(version), Ok(trace), Ok(profile)) = (strategy, version, trace, profile) else {
        return Err(CliError::Input(errors));
    };
    let replayer = Replayer::new(&trace, version, strategy.design)
        .map_err(|wrong| CliError::Input(wrong.iter().map(|e| format!("{file}: {e}")).collect()))?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if let Some(runs) = args.bench {
        for line in bench::measure(&replayer, runs, args.from) {
            writeln!(out, "{line}")?;
        }
        return Ok(out.flush()?);
    }
    if args.heap {
        let heap = replayer.heap();
        writeln!(out, "component,class,objects,bytes,bytes_without_compressed_references")?;
        for (component, class, Count { objects, bytes: Bytes { compressed, plain } }) in heap.classes() {
            writeln!(out, "{},{},{objects},{compressed},{plain}", component.name(), class.name())?;
        }
        return Ok(out.flush()?);
    }
    if args.operations {
        let counts = replayer.count(args.from);
        writeln!(out, "operation,count,cpu_model_ns")?;
        for operation in Operation::ALL {
            let count = counts[operation];
            let cost_ns = profile.nanoseconds(operation, count).map_or_else(String::new, |ns| ns.to_string());
            writeln!(out, "{},{count},{cost_ns}", operation.name())?;
        }
        return Ok(out.flush()?);
    }
    let mut text = String::new();
    let mut written = Ok(());
    replayer.run(|line| {
        text.clear();
        line.write(&mut text);
        if written.is_ok() {
            written = out.write_all(text.as_bytes());
        }
    });
    written.and_then(|()| out.flush()).map_err(CliError::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_trace() {
        let errors = parse("a.toml", "# A scenario.\nduration = \"1h\"\nseed = 1\n").unwrap_err();
        let expected = "a.toml is no trace: its first line is not JSON; expected {\"trace\":1,…} \
                        (`coordsim trace SCENARIO --out FILE` writes the trace of a scenario)";
        assert_eq!(errors, [expected]);
        // Of a trace, every line is looked at.
        let header = "{\"trace\":1,\"start_unix_ms\":0,\"config\":{}}";
        let errors = parse("t", &format!("{header}\nx\ny\n")).unwrap_err();
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(parse("t", "").unwrap_err()[0].contains("the file is empty"));
        assert!(parse("t", header).is_ok());
    }
}
