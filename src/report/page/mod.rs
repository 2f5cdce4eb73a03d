//! One page that shows runs: self-contained, without any request to anywhere.

use super::files::{ReportError, RunFiles};
use super::plot::{self, Content, Figure, styles_of};
use super::rows::Bump;
use super::verdict::verdict;
use super::words::{counted, grouped, steps};
use crate::report::plot::escape;
use serde_json::json;
use std::fmt::Write;

const CSS: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The most bumps of a run that are explained in the page.
const BUMPS: usize = 2_000;

/// The columns of `summary.csv` that are shown first.
const FIRST: [&str; 12] = [
    "strategy",
    "seed",
    "epoch_bumps",
    "idle_bumps",
    "needless_bumps",
    "missed_changes",
    "appended_bytes",
    "strategy_bytes",
    "rebalance_bytes",
    "topic_hashes",
    "cpu_model_ns",
    "heap_model_bytes",
];

/// The columns of the table of bumps.
const BUMP_COLUMNS: [&str; 13] = [
    "time_ms",
    "strategy",
    "kind",
    "group",
    "old_epoch",
    "new_epoch",
    "cause",
    "topic",
    "field",
    "event",
    "delay_ms",
    "assignment_changed",
    "needless",
];

/// The page of runs.
///
/// # Errors
/// If files do not have what a picture needs.
pub fn page(runs: &[RunFiles<'_>]) -> Result<String, ReportError> {
    let names: Vec<&str> = runs.iter().map(|run| run.said("/scenario/name")).collect();
    let title = format!("coordsim: {}", names.join(", "));
    let mut body = String::new();
    if runs.len() > 1 {
        body.push_str("<nav aria-label=\"Runs\"><ul>");
        for (number, name) in names.iter().enumerate() {
            let _ = write!(body, "<li><a href=\"#run-{number}\">{}</a></li>", escape(name));
        }
        body.push_str("</ul></nav>\n");
    }
    body.push_str(&switches(runs));
    for (number, run) in runs.iter().enumerate() {
        body.push_str(&section(run, number)?);
    }
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<title>{}</title>\n<style>\n{CSS}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#run-0\">To the results</a>\n<main>\n{body}</main>\n\
         <footer><p class=\"soft\">Every number is from a CSV file of the run, under the name that stands beside it. \
         Columns are named as in the files.</p></footer>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escape(&title)
    ))
}

/// A box to tick for each strategy of any run.
fn switches(runs: &[RunFiles<'_>]) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in runs.iter().flat_map(RunFiles::strategies) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut html = String::from("<fieldset class=\"switches\"><legend>Strategies</legend>\n");
    for (name, style) in names.iter().zip(styles_of(&names)) {
        let color = if style.color == plot::BLACK { "var(--ink)" } else { style.color };
        let _ = writeln!(
            html,
            "<label><input type=\"checkbox\" value=\"{0}\" checked><span class=\"swatch\" data-color=\"{1}\" style=\"background:{color}\"></span>{0}</label>",
            escape(name),
            style.color
        );
    }
    html.push_str("</fieldset>\n");
    html
}

fn section(run: &RunFiles<'_>, number: usize) -> Result<String, ReportError> {
    let mut html = format!("<article id=\"run-{number}\">\n");
    let seeds = run.seeds();
    let what = match &seeds[..] {
        [seed] => format!("seed {seed}"),
        [first, .., last] => format!("{} seeds, {first} to {last}", seeds.len()),
        [] => "no seeds".to_owned(),
    };
    let command = run.manifest().get("command").and_then(|command| command.as_array());
    let command: Vec<&str> = command.into_iter().flatten().filter_map(|word| word.as_str()).collect();
    let _ = write!(
        html,
        "<h1>{}</h1>\n<p class=\"soft\">Kafka {}, {what}; coordsim {}; scenario text XXH3-128 <code>{}</code></p>\n\
         <h2>Run it again</h2>\n<pre>{}</pre>\n<h2>Verdict</h2>\n<ul>\n",
        escape(run.said("/scenario/name")),
        escape(run.said("/kafka")),
        escape(run.said("/coordsim")),
        escape(run.said("/scenario/text_xxh3_128")),
        escape(&command.join(" ")),
    );
    for sentence in verdict(run)? {
        let _ = writeln!(html, "<li>{}</li>", escape(&sentence));
    }
    html.push_str("</ul>\n<h2>Comparison</h2>\n<p class=\"soft\">summary.csv; a click on a column sorts.</p>\n");
    let (columns, rows) = run.cells("summary.csv")?;
    let is_shown = |name: &&&str| **name != "seed" || seeds.len() > 1;
    let first = FIRST.iter().filter(is_shown);
    let shown: Vec<usize> = first.filter_map(|name| columns.iter().position(|column| column == name)).collect();
    table(&mut html, "Comparison of strategies", &columns, &rows, &shown);
    let all: Vec<usize> = (0..columns.len()).collect();
    html.push_str("<details><summary>All columns of summary.csv</summary>\n");
    table(&mut html, "All columns of summary.csv", &columns, &rows, &all);
    html.push_str("</details>\n<h2>Charts</h2>\n<div class=\"charts\">\n");
    for figure in plot::figures(run)? {
        html.push_str(&chart(&figure, number));
    }
    html.push_str("</div>\n");
    for file in ["records.csv", "operations.csv", "delays.csv"] {
        let (columns, rows) = run.cells(file)?;
        let all: Vec<usize> = (0..columns.len()).filter(|index| columns[*index] != "scenario").collect();
        let _ = writeln!(html, "<details><summary>{file}, {}</summary>", counted(rows.len() as u64, "row"));
        table(&mut html, file, &columns, &rows, &all);
        html.push_str("</details>\n");
    }
    html.push_str(&bumps(run, number)?);
    html.push_str("</article>\n");
    Ok(html)
}

/// A table that sorts.
fn table(html: &mut String, name: &str, columns: &[String], rows: &[Vec<String>], shown: &[usize]) {
    let _ = writeln!(
        html,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table class=\"sorts\" aria-label=\"{0}\"><thead><tr>",
        escape(name)
    );
    for &column in shown {
        let _ = write!(html, "<th scope=\"col\"><button type=\"button\">{}</button></th>", escape(&columns[column]));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    let strategy = columns.iter().position(|column| column == "strategy");
    for row in rows {
        let series = strategy.map_or("", |strategy| row[strategy].as_str());
        let _ = write!(html, "<tr data-series=\"{}\">", escape(series));
        for &column in shown {
            let value = &row[column];
            let _ = match value.parse::<u64>() {
                Ok(number) if columns[column] != "seed" => {
                    write!(html, "<td data-value=\"{number}\">{}</td>", grouped(number))
                }
                Ok(number) => write!(html, "<td>{number}</td>"),
                Err(_) => write!(html, "<td class=\"text\">{}</td>", escape(value)),
            };
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
}

fn chart(figure: &Figure, run: usize) -> String {
    let id = format!("run-{run}-{}", figure.name.name);
    let source = escape(figure.source);
    match (plot::draw(figure, &id), &figure.content) {
        (Some(drawing), _) => {
            let hover = drawing.hover.and_then(|hover| serde_json::to_string(&hover).ok());
            let attributes = hover.map_or(String::new(), |hover| {
                format!(
                    " tabindex=\"0\" aria-label=\"{}; arrow keys say values\" data-hover=\"{}\"",
                    escape(&figure.title),
                    escape(&hover)
                )
            });
            format!(
                "<figure{attributes}>\n{}<p class=\"values\" aria-live=\"polite\"></p>\n<figcaption>{source}</figcaption></figure>\n",
                drawing.svg
            )
        }
        (None, Content::Nothing(why)) => format!(
            "<figure class=\"nothing\"><h3>{}</h3><p>Nothing to show: {}.</p><figcaption>{source}</figcaption></figure>\n",
            escape(&figure.title),
            escape(why)
        ),
        (None, Content::Chart(_)) => String::new(),
    }
}

/// Every bump of the first seed, with what it came from.
fn bumps(run: &RunFiles<'_>, number: usize) -> Result<String, ReportError> {
    let seed = run.seeds().first().copied();
    let rows: Vec<Bump> = run.rows("bumps.csv")?;
    let mut rows: Vec<&Bump> = rows.iter().filter(|bump| Some(bump.seed) == seed).collect();
    let all = rows.len();
    // Those that found a changed topic are why anybody looks; then the others, in time.
    rows.sort_by_key(|bump| bump.delay_ms.is_none());
    rows.truncate(BUMPS);
    rows.sort_by_key(|bump| bump.time_ms);
    let left = match all - rows.len() {
        0 => String::new(),
        left => {
            format!("; {} more are in bumps.csv, and <code>coordsim why</code> explains them", grouped(left as u64))
        }
    };
    let cells = |bump: &&Bump| {
        let text = |value: serde_json::Value| match value {
            serde_json::Value::Null => String::new(),
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        let row = json!(bump);
        let cells: serde_json::Map<String, serde_json::Value> =
            BUMP_COLUMNS.iter().map(|column| ((*column).to_owned(), text(row[*column].clone()).into())).collect();
        json!({ "cells": cells, "why": steps(bump) })
    };
    let data: Vec<serde_json::Value> = rows.iter().map(cells).collect();
    let data = serde_json::Value::from(data).to_string().replace('<', "\\u003c");
    let mut html = format!(
        "<section id=\"run-{number}-bumps\" class=\"bumps\" data-bumps>\n<h2>Bumps and what they came from</h2>\n\
         <p class=\"soft\">bumps.csv, seed {}{left}. The time of a bump opens its steps, from the event to the bytes.</p>\n\
         <div class=\"filters\"><label>Which <select name=\"kind\"><option value=\"all\">all</option><option value=\"topics\">for topics</option>\
         <option value=\"idle\">idle</option><option value=\"needless\">needless</option></select></label>\n\
         <label>Strategy <select name=\"strategy\"><option value=\"\">all</option>",
        seed.unwrap_or_default()
    );
    for name in run.strategies() {
        let _ = write!(html, "<option>{}</option>", escape(&name));
    }
    html.push_str(
        "</select></label>\n<label>Group <input name=\"group\" type=\"search\"></label> <span class=\"count\" role=\"status\"></span></div>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Bumps\"><table aria-label=\"Bumps\"><thead><tr>",
    );
    for column in BUMP_COLUMNS {
        let _ = write!(html, "<th scope=\"col\">{column}</th>");
    }
    let _ = write!(
        html,
        "</tr></thead><tbody></tbody></table></div>\n<p><button type=\"button\" class=\"plain\" hidden>Show more</button></p>\n\
         <noscript><p>Without JavaScript this table is empty: see bumps.csv, or coordsim why.</p></noscript>\n\
         <script type=\"application/json\">{data}</script>\n</section>\n"
    );
    Ok(html)
}
