//! The comparison of strategies as `run` prints it: a table, and what stands out in it.

use crate::cost::Operation;
use crate::kafka::GroupKind;
use crate::results::{Replications, RunResults};
use crate::scenario::show_duration;
use crate::simulation::{LargeWrite, Totals};
use crate::strategy::{Design, Strategy};
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table, presets};

/// The columns: less is better in each.
const COLUMNS: [&str; 10] = [
    "bumps",
    "idle\nbumps",
    "needless\nbumps",
    "missed\nchanges",
    "topic\nhashes",
    "CPU µs\n(model)",
    "log bytes\nat most",
    "bytes\nappended",
    "of these\nstrategy",
    "of these\nrebalances",
];

/// To whose bytes those of all strategies are compared, where they are there.
const REFERENCES: [&str; 2] = ["ideal", "cached-hash"];

/// The columns of the logs: less is better in each but `removed`, in which nothing is.
const DISK_COLUMNS: [&str; 7] = [
    "log bytes\nat most",
    "at the\nend",
    "of these\nstrategy",
    "of these\nrebalances",
    "removed by\nthe cleaner",
    "read by\nthe cleaner",
    "longest load\nms (model)",
];
/// Removing much is no merit of who has written it.
const REMOVED: usize = 4;

/// The metrics whose intervals are shown.
const REPLICATED: [&str; 3] = ["epoch_bumps", "appended_bytes", "topic_hashes"];

/// The numbers of a strategy, means over all seeds.
struct Row<'a> {
    strategy: &'a Strategy,
    sums: Sums,
    seeds: u64,
}

/// Sums over all seeds.
#[derive(Default, Clone, Copy)]
struct Sums {
    bumps: u64,
    idle: u64,
    needless: u64,
    missed: u64,
    judged_groups: u64,
    unjudged_groups: u64,
    rejected: u64,
    unsent: u64,
    cpu_ns: u64,
    refreshes: u64,
    hashes: u64,
    hash_bytes: u64,
    records: u64,
    appended_bytes: u64,
    strategy_bytes: u64,
    rebalance_bytes: u64,
    failed_loads: u64,
    refused_writes: u64,
    disk: Disk,
    /// Of each kind of group: bumps, bytes of records, the strategy's own.
    kinds: [[u64; 3]; 3],
}

/// What is on the disk, sums over all seeds.
#[derive(Default, Clone, Copy)]
struct Disk {
    commit_bytes: u64,
    peak_bytes: u64,
    final_bytes: u64,
    strategy_bytes: u64,
    rebalance_bytes: u64,
    read_bytes: u64,
    removed_bytes: i64,
    load_ms: u64,
}

impl Disk {
    fn add(&mut self, run: &RunResults, totals: &Totals) {
        let (contents, done) = (totals.log_contents(), totals.log_totals());
        self.commit_bytes += done.commit_bytes;
        self.peak_bytes += totals.log_peak_bytes();
        self.final_bytes += contents.bytes;
        self.strategy_bytes += contents.strategy_bytes();
        self.rebalance_bytes += contents.rebalance_bytes();
        self.read_bytes += done.cleaned.read_bytes;
        self.removed_bytes += done.cleaned.removed_bytes();
        self.load_ms += run.longest_load_ms(totals);
    }

    /// In the order of the columns.
    fn values(self) -> [Option<u64>; DISK_COLUMNS.len()] {
        let removed = u64::try_from(self.removed_bytes).ok();
        [
            Some(self.peak_bytes),
            Some(self.final_bytes),
            Some(self.strategy_bytes),
            Some(self.rebalance_bytes),
            removed,
            Some(self.read_bytes),
            Some(self.load_ms),
        ]
    }
}

impl Sums {
    fn add(&mut self, run: &RunResults, totals: &Totals) {
        self.bumps += totals.bumps.len() as u64;
        self.idle += totals.idle_bumps();
        self.needless += totals.needless_bumps();
        self.missed += totals.missed_changes;
        self.judged_groups += totals.judged_groups;
        self.unjudged_groups += totals.unjudged_groups;
        self.rejected += totals.happened.rejected_heartbeats;
        self.unsent += totals.happened.unsent_heartbeats;
        self.refreshes += totals.count(Operation::Refresh);
        self.hashes += totals.count(Operation::TopicHash);
        self.hash_bytes += totals.count(Operation::HashByte);
        self.records += totals.num_records();
        self.appended_bytes += totals.appended_bytes;
        self.strategy_bytes += totals.strategy_bytes();
        self.rebalance_bytes += totals.rebalance_bytes();
        self.failed_loads += totals.happened.failed_loads;
        self.refused_writes += totals.happened.refused_writes;
        self.cpu_ns += run.profile.cost_ns(&totals.all_counts());
        self.disk.add(run, totals);
        for (kind, sums) in GroupKind::ALL.into_iter().zip(&mut self.kinds) {
            let values = [totals.bumps_of(kind), totals.batch_bytes_of(kind), totals.strategy_bytes_of(kind)];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
    }
}

impl Row<'_> {
    fn is_bound(&self) -> bool {
        self.strategy.design == Design::Ideal
    }

    fn name(&self) -> &str {
        &self.strategy.name
    }

    /// In the order of the columns; `None` is not applicable.
    fn values(&self) -> [Option<u64>; COLUMNS.len()] {
        let s = self.sums;
        let judged = s.judged_groups > 0 || s.unjudged_groups == 0;
        let missed = (!self.is_bound() && judged).then_some(s.missed);
        [
            Some(s.bumps),
            Some(s.idle),
            Some(s.needless),
            missed,
            Some(s.hashes),
            Some(s.cpu_ns / 1000),
            Some(s.disk.peak_bytes),
            Some(s.appended_bytes),
            Some(s.strategy_bytes),
            Some(s.rebalance_bytes),
        ]
    }
}

fn rows(runs: &[RunResults]) -> Vec<Row<'_>> {
    let Some(first) = runs.first() else { return Vec::new() };
    let mut rows: Vec<Row> = Vec::new();
    for (index, (strategy, _)) in first.strategies.iter().enumerate() {
        let mut sums = Sums::default();
        for run in runs {
            run.strategies.get(index).iter().for_each(|(_, totals)| sums.add(run, totals));
        }
        rows.push(Row { strategy, sums, seeds: runs.len() as u64 });
    }
    rows
}

/// What was run, in a line.
pub fn title(runs: &[RunResults]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let seeds = match runs.last() {
        Some(last) if last.seed != first.seed => format!("means of seeds {} to {}", first.seed, last.seed),
        _ => format!("seed {}", first.seed),
    };
    let size = &first.size;
    let counted = |number: u64, what: &str| format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" });
    format!(
        "{}: Kafka {}, {seeds}; {}, {}, {}, {}, {}",
        first.scenario,
        first.kafka,
        counted(size.groups, "group"),
        counted(size.members, "member"),
        counted(size.topics, "topic"),
        counted(size.partitions, "partition"),
        counted(size.metadata_images, "metadata image")
    )
}

/// The table: a row for each strategy. The least of a column has a star, unless all have the same; the bound does not
/// compete. Then how many times the bytes appended by the bound and by `cached-hash` each strategy appends.
pub fn table(runs: &[RunResults], look: Look) -> Table {
    let rows = rows(runs);
    let bytes_of = |name: &str| rows.iter().find(|row| row.name() == name).map(|row| row.sums.appended_bytes);
    let references: Vec<(&str, u64)> = REFERENCES
        .into_iter()
        .filter_map(|name| Some((name, bytes_of(name)?)))
        .filter(|(_, bytes)| *bytes > 0 && rows.len() > 1)
        .collect();
    let mut table = starred(&rows, &COLUMNS, look, |row| row.values().to_vec(), None);
    if references.is_empty() {
        return table;
    }
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let columns: Vec<String> = references.iter().map(|(name, _)| format!("bytes ×\n{name}")).collect();
    let mut header: Vec<Cell> = table.header().into_iter().flat_map(|header| header.cell_iter().cloned()).collect();
    header.extend(columns.into_iter().map(|column| right(look.header(&column))));
    table.set_header(header);
    for (line, row) in table.row_iter_mut().zip(&rows) {
        for (_, reference) in &references {
            line.add_cell(right(ratio(row.sums.appended_bytes, *reference)));
        }
    }
    table
}

/// The logs, where a cleaner had something to do: a row for each strategy, with stars likewise.
pub fn disk_table(runs: &[RunResults], look: Look) -> Option<Table> {
    let rows = rows(runs);
    let is_cleaned = rows.iter().any(|row| row.sums.disk.read_bytes > 0);
    is_cleaned.then(|| starred(&rows, &DISK_COLUMNS, look, |row| row.sums.disk.values().to_vec(), Some(REMOVED)))
}

/// How a table looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// As it is.
    Plain,
    /// With colours, for a terminal.
    Styled,
    /// As Markdown.
    Markdown,
}

impl Look {
    /// A table without rows.
    fn table(self) -> Table {
        let mut table = Table::new();
        table.load_style(if self == Look::Markdown { presets::ASCII_MARKDOWN } else { presets::UTF8_FULL_CONDENSED });
        match self {
            Look::Styled => table.enforce_styling().set_content_arrangement(ContentArrangement::Dynamic),
            Look::Plain | Look::Markdown => table.force_no_tty(),
        };
        table
    }

    /// A header in one line or in several.
    fn header(self, text: &str) -> String {
        if self == Look::Markdown { text.replace('\n', " ") } else { text.to_owned() }
    }
}

/// How many times a number another one is, with two digits, rounded.
fn ratio(number: u64, of: u64) -> String {
    let hundredths = (u128::from(number) * 100 + u128::from(of) / 2) / u128::from(of.max(1));
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// The kinds of groups apart, where there are several: bumps, bytes of records, and what of them is the strategy's own.
pub fn kinds_table(runs: &[RunResults], look: Look) -> Option<Table> {
    let has = |kind: &GroupKind| runs.iter().any(|run| run.size.kinds[*kind as usize].0 > 0);
    let kinds: Vec<GroupKind> = GroupKind::ALL.into_iter().filter(has).collect();
    if kinds.len() < 2 {
        return None;
    }
    let names = kinds.iter().flat_map(|kind| {
        let name = kind.name();
        [format!("{name}\nbumps"), format!("{name}\nbytes"), "of these\nstrategy".to_owned()]
    });
    let names: Vec<String> = names.collect();
    let columns: Vec<&str> = names.iter().map(String::as_str).collect();
    let values = |row: &Row| {
        let of_kind = |kind: &GroupKind| row.sums.kinds[*kind as usize].map(Some);
        kinds.iter().flat_map(of_kind).collect::<Vec<_>>()
    };
    Some(starred(&rows(runs), &columns, look, values, None))
}

/// A table in which the least of each column has a star, but for one column in which nothing is better.
fn starred(
    rows: &[Row],
    columns: &[&str],
    look: Look,
    values: impl Fn(&Row) -> Vec<Option<u64>>,
    neutral: Option<usize>,
) -> Table {
    let least = |column: usize| {
        let compete = || rows.iter().filter(|row| !row.is_bound()).filter_map(|row| values(row)[column]);
        let differs = |&least: &u64| compete().any(|value| value != least);
        compete().min().filter(|least| differs(least) && neutral != Some(column))
    };
    let best: Vec<Option<u64>> = (0..columns.len()).map(least).collect();
    let mut table = look.table();
    let right = |cell: Cell| cell.set_alignment(CellAlignment::Right);
    let header =
        std::iter::once(Cell::new("strategy")).chain(columns.iter().map(|name| right(Cell::new(look.header(name)))));
    table.set_header(header.collect::<Vec<_>>());
    for row in rows {
        let mut cells = vec![Cell::new(row.name())];
        for (value, best) in values(row).into_iter().zip(&best) {
            cells.push(right(match value {
                None => Cell::new("–"),
                Some(value) if *best == Some(value) && !row.is_bound() => {
                    let cell = Cell::new(format!("{}*", mean(value, row.seeds)));
                    cell.add_attribute(Attribute::Bold).fg(Color::Green)
                }
                Some(value) => Cell::new(format!("{} ", mean(value, row.seeds))),
            }));
        }
        table.add_row(cells);
    }
    table
}

/// How to read the table.
pub fn legend() -> &'static str {
    "* the least of its column, where not all are equal (ideal, the bound, does not compete); – not applicable or not known"
}

/// What stands out, in sentences.
pub fn findings(runs: &[RunResults]) -> Vec<String> {
    let rows = rows(runs);
    let compete: Vec<&Row> = rows.iter().filter(|row| !row.is_bound()).collect();
    let mut findings = Vec::new();
    findings.extend(finding_of_bytes(&compete));
    findings.extend(finding_of_shares(&compete));
    findings.extend(finding_of_commits(&rows));
    findings.extend(finding_of_hashes(&compete));
    findings.extend(finding_of_misses(&compete));
    findings.extend(finding_of_bumps(&rows));
    findings.extend(warnings(&rows));
    findings.extend(limits(runs, &rows));
    findings
}

/// Within how much of `max.message.bytes` a write is worth a warning, in percent.
const NEAR_LIMIT_PERCENT: u64 = 80;

/// Writes that are too large for a batch, or nearly so.
fn limits(runs: &[RunResults], rows: &[Row]) -> Vec<String> {
    let mut found = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let totals = || runs.iter().filter_map(|run| Some((run.max_message_bytes, &run.strategies.get(index)?.1)));
        let first = totals().find_map(|(max, totals)| Some((max, totals.first_refusal.as_ref()?)));
        if let Some((max, first)) = first {
            found.push(format!(
                "{}: {} writes failed because their records fit into no batch (max.message.bytes {}); the first at {} of \
                 group {}, with {} bytes. Members get UNKNOWN_SERVER_ERROR, at which Java's consumer gives up.",
                row.name(),
                grouped(row.sums.refused_writes),
                grouped(max),
                show_duration(first.time_ms),
                first.group.as_str(),
                grouped(first.bytes),
            ));
        }
        let near = |&(max, write): &(u64, &LargeWrite)| write.bytes.saturating_mul(100) >= max * NEAR_LIMIT_PERCENT;
        let largest = totals().filter_map(|(max, totals)| Some((max, totals.largest_write.as_ref()?))).find(near);
        if let Some((max, write)) = largest {
            found.push(format!(
                "{}: group {} is near the limit: it wrote {} bytes at once, {} % of max.message.bytes.",
                row.name(),
                write.group.as_str(),
                grouped(write.bytes),
                u128::from(write.bytes) * 100 / u128::from(max.max(1)),
            ));
        }
    }
    found
}

/// Who appends less than whom: `cached-hash` against `full-map` if both are there, else the least against the most.
fn finding_of_bytes(rows: &[&Row]) -> Option<String> {
    let named = |name: &str| rows.iter().copied().find(|row| row.name() == name);
    let (less, more) = match (named("cached-hash"), named("full-map")) {
        (Some(hash), Some(map)) => (hash, map),
        _ => (
            rows.iter().copied().min_by_key(|row| row.sums.appended_bytes)?,
            rows.iter().copied().max_by_key(|row| row.sums.appended_bytes)?,
        ),
    };
    let (less, more) = if less.sums.appended_bytes <= more.sums.appended_bytes { (less, more) } else { (more, less) };
    if less.sums.appended_bytes == more.sums.appended_bytes {
        return None;
    }
    Some(format!(
        "{} appends {} less than {}: {} against {} bytes, of which the strategy's own are {} against {}.",
        less.name(),
        percent_less(less.sums.appended_bytes, more.sums.appended_bytes),
        more.name(),
        mean(less.sums.appended_bytes, less.seeds),
        mean(more.sums.appended_bytes, more.seeds),
        mean(less.sums.strategy_bytes, less.seeds),
        mean(more.sums.strategy_bytes, more.seeds),
    ))
}

/// What strategies write of their own, next to what their bumps cause.
fn finding_of_shares(rows: &[&Row]) -> Option<String> {
    let share = |row: &Row, bytes: u64| percent(bytes, row.sums.appended_bytes);
    let shares: Vec<String> = rows
        .iter()
        .filter(|row| row.sums.appended_bytes > 0)
        .map(|row| {
            let (own, rebalances) = (share(row, row.sums.strategy_bytes), share(row, row.sums.rebalance_bytes));
            format!("{} {own} and {rebalances}", row.name())
        })
        .collect();
    (!shares.is_empty()).then(|| {
        format!(
            "Of the bytes appended, the strategy's own and those of the rebalances it causes: {}.",
            shares.join(", ")
        )
    })
}

/// What offset commits add, where there are any.
fn finding_of_commits(rows: &[Row]) -> Option<String> {
    let row = rows.iter().find(|row| row.sums.disk.commit_bytes > 0)?;
    let all =
        rows.iter().map(|row| percent(row.sums.appended_bytes, row.sums.appended_bytes + row.sums.disk.commit_bytes));
    let shares: Vec<String> = rows.iter().zip(all).map(|(row, share)| format!("{} {share}", row.name())).collect();
    Some(format!(
        "Offset commits are {} bytes; the coordinator's own records are of all bytes: {}.",
        mean(row.sums.disk.commit_bytes, row.seeds),
        shares.join(", ")
    ))
}

/// Who hashes less than whom, of those that hash.
fn finding_of_hashes(rows: &[&Row]) -> Option<String> {
    let hashing = || rows.iter().copied().filter(|row| row.sums.hashes > 0);
    let less = hashing().min_by_key(|row| row.sums.hash_bytes)?;
    let more = hashing().max_by_key(|row| row.sums.hash_bytes)?;
    (less.sums.hash_bytes < more.sums.hash_bytes).then(|| {
        format!(
            "{} computes {} topic hashes over {} bytes, {} {} over {} bytes.",
            more.name(),
            mean(more.sums.hashes, more.seeds),
            mean(more.sums.hash_bytes, more.seeds),
            less.name(),
            mean(less.sums.hashes, less.seeds),
            mean(less.sums.hash_bytes, less.seeds),
        )
    })
}

/// Who still has not seen, at the end, what its groups could have seen.
fn finding_of_misses(rows: &[&Row]) -> Option<String> {
    let missing: Vec<String> = rows
        .iter()
        .filter(|row| row.sums.missed > 0)
        .map(|row| format!("{} {}", row.name(), mean(row.sums.missed, row.seeds)))
        .collect();
    let unjudged = rows.iter().map(|row| row.sums.unjudged_groups).max()?;
    let judged = rows.iter().map(|row| row.sums.judged_groups).max()?;
    let but = match unjudged {
        0 => String::new(),
        _ => format!(
            " ({} of {} groups have no coordinator then and are not judged)",
            grouped(unjudged),
            grouped(judged + unjudged)
        ),
    };
    match (judged > 0 || unjudged == 0, missing.is_empty()) {
        (false, _) => Some("What is missed is not known: at the end no group has a coordinator.".to_owned()),
        (_, true) => Some(format!("At the end no strategy is still missing a change{but}.")),
        _ => Some(format!("Changes still missed at the end: {}{but}.", missing.join(", "))),
    }
}

/// Bumps that changed no assignment, and those that the bound has.
fn finding_of_bumps(rows: &[Row]) -> Option<String> {
    let idle: Vec<String> = rows
        .iter()
        .filter(|row| row.sums.idle > 0)
        .map(|row| format!("{} {} of {}", row.name(), mean(row.sums.idle, row.seeds), mean(row.sums.bumps, row.seeds)))
        .collect();
    (!idle.is_empty()).then(|| format!("Bumps that changed no assignment: {}.", idle.join(", ")))
}

/// What the numbers above must be read with.
fn warnings(rows: &[Row]) -> Vec<String> {
    let list = |count: fn(&Sums) -> u64| {
        let with = rows.iter().filter(|row| count(&row.sums) > 0);
        with.map(|row| format!("{} {}", row.name(), grouped(count(&row.sums)))).collect::<Vec<_>>().join(", ")
    };
    let failed = list(|sums| sums.failed_loads);
    let mut warnings = Vec::new();
    for (count, what) in [
        (list(|sums| sums.rejected), "Heartbeats answered with an error"),
        (list(|sums| sums.unsent), "Heartbeats that found no coordinator"),
    ] {
        if !count.is_empty() {
            warnings.push(format!("{what}: {count} (why: operations.csv)."));
        }
    }
    if !failed.is_empty() {
        warnings.push(format!("Coordinators that could not load their log (nobody answers then): {failed}."));
    }
    warnings
}

/// How much less, in percent with one digit, rounded down.
fn percent_less(less: u64, more: u64) -> String {
    percent(more - less, more)
}

/// A part of a whole, in percent with one digit, rounded down.
fn percent(part: u64, whole: u64) -> String {
    let permille = u128::from(part) * 1000 / u128::from(whole.max(1));
    format!("{}.{} %", permille / 10, permille % 10)
}

/// A mean over seeds, with one digit where it is no integer.
fn mean(sum: u64, seeds: u64) -> String {
    let seeds = seeds.max(1);
    if sum.is_multiple_of(seeds) {
        return grouped(sum / seeds);
    }
    let tenths = (u128::from(sum) * 10 + u128::from(seeds) / 2) / u128::from(seeds);
    format!("{}.{}", grouped((tenths / 10) as u64), tenths % 10)
}

/// A number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The means of seeds with their intervals, and how much pairing narrows those of differences.
pub fn replications_table(replications: &Replications) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).force_no_tty();
    let seeds = replications.seeds();
    let less = format!("less {}", replications.reference_name().unwrap_or_default());
    table.set_header(["metric", "strategy", "mean", &less, "unpaired"]);
    for metric in REPLICATED {
        for [strategy, mean, paired, unpaired] in replications.in_words(metric) {
            table.add_row([metric.to_owned(), strategy, mean, paired, unpaired]);
        }
    }
    for column in 2..5 {
        table.column_mut(column).into_iter().for_each(|column| {
            column.set_cell_alignment(CellAlignment::Right);
        });
    }
    format!(
        "Means of {seeds} seeds with their 95 % intervals; all of them: replications.csv, differences.csv\n{table}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Profile;
    use crate::disk::LoadModel;
    use crate::results::RunSize;

    fn runs(of: &[(&str, &[u64])]) -> Vec<RunResults> {
        let seeds = of.first().map_or(0, |(_, bytes)| bytes.len());
        let totals =
            |bytes: u64| Totals { appended_bytes: bytes, hash_field_bytes: [bytes / 10, 0, 0], ..Totals::default() };
        (0..seeds)
            .map(|seed| RunResults {
                scenario: "s".to_owned(),
                seed: seed as u64,
                kafka: "4.3.1".to_owned(),
                size: RunSize::default(),
                start_unix_ms: 0,
                timeline_ms: 1,
                end_ms: 1,
                max_message_bytes: 1_000,
                profile: Profile::shipped(),
                loading: LoadModel { bytes_per_second: 1, record_ns: 0 },
                strategies: of
                    .iter()
                    .map(|(name, bytes)| (Strategy::preset(name).expect("a preset"), totals(bytes[seed])))
                    .collect(),
            })
            .collect()
    }

    #[test]
    fn the_least_has_a_star_and_the_bound_does_not_compete() {
        let runs = runs(&[("full-map", &[4_000]), ("cached-hash", &[1_234]), ("ideal", &[7])]);
        let text = table(&runs, Look::Plain).to_string();
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("-map") || line.contains("│ ideal")).collect();
        assert!(text.contains("1,234*") && !text.contains("4,000*"), "{text}");
        assert!(lines[1].contains(" 7 ") && lines[1].contains('–') && !lines[1].contains('*'), "{text}");
        assert!(!lines[0].contains('*'), "{text}");
    }

    #[test]
    fn bytes_are_compared_with_the_bound_and_the_adopted_strategy() {
        let runs = runs(&[("full-map", &[4_000]), ("cached-hash", &[1_600]), ("ideal", &[800])]);
        let text = table(&runs, Look::Markdown).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("| bytes × ideal | bytes × cached-hash |"), "{text}");
        for (line, ends) in lines[2..].iter().zip(["5.00", "2.00", "1.00"]) {
            assert!(line.contains(&format!(" {ends} |")), "{text}");
        }
        assert!(lines[2].ends_with(" 2.50 |") && lines[4].ends_with(" 0.50 |"), "{text}");
        assert_eq!(ratio(1, 3), "0.33");
    }

    #[test]
    fn kinds_stand_apart_where_there_are_several() {
        let mut runs = runs(&[("full-map", &[40_000]), ("cached-hash", &[12_340])]);
        assert!(kinds_table(&runs, Look::Plain).is_none());
        runs[0].size.kinds = [(2, 4), (0, 0), (1, 3)];
        let text = kinds_table(&runs, Look::Plain).expect("there are two kinds").to_string();
        assert!(text.contains("consumer") && text.contains("streams") && !text.contains("share"), "{text}");
        assert!(text.contains(" 4,000 ") && text.contains(" 1,234* "), "{text}");
    }

    #[test]
    fn findings_say_how_much_less() {
        let findings = findings(&runs(&[("full-map", &[3_000, 5_001]), ("cached-hash", &[1_000, 1_000])]));
        assert_eq!(
            findings,
            [
                "cached-hash appends 75.0 % less than full-map: 1,000 against 4,000.5 bytes, of which the strategy's own \
                 are 100 against 400.",
                "Of the bytes appended, the strategy's own and those of the rebalances it causes: full-map 9.9 % and 0.0 %, \
                 cached-hash 10.0 % and 0.0 %.",
                "At the end no strategy is still missing a change.",
            ]
        );
    }

    /// `max.message.bytes` is 1,000 here.
    #[test]
    fn findings_say_what_is_too_large() {
        let write = |bytes, time_ms| Some(LargeWrite { bytes, time_ms, group: "g".into() });
        let limits_of = |largest, refused| {
            let mut runs = runs(&[("full-map", &[0])]);
            let totals = &mut runs[0].strategies[0].1;
            (totals.largest_write, totals.first_refusal) = (write(largest, 5), refused);
            totals.happened.refused_writes = 3;
            limits(&runs, &rows(&runs))
        };
        assert_eq!(limits_of(799, None), [""; 0]);
        let near = "full-map: group g is near the limit: it wrote 800 bytes at once, 80 % of max.message.bytes.";
        assert_eq!(limits_of(800, None), [near]);
        assert_eq!(
            limits_of(10, write(1_001, 60_000)),
            [
                "full-map: 3 writes failed because their records fit into no batch (max.message.bytes 1,000); the first at 1m of \
              group g, with 1,001 bytes. Members get UNKNOWN_SERVER_ERROR, at which Java's consumer gives up."
            ]
        );
    }

    #[test]
    fn numbers() {
        assert_eq!([grouped(0), grouped(999), grouped(1_000), grouped(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([mean(7, 2), mean(8, 2), mean(2, 3)], ["3.5", "4", "0.7"]);
        assert_eq!([percent_less(1, 3), percent_less(3, 3)], ["66.6 %", "0.0 %"]);
    }
}
