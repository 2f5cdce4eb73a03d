//! What a chart says, before it is drawn.

use super::style::Style;

/// A plot by name: a chart, or why there is nothing to show.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its name, and those of its files.
    pub name: Name,
    /// What it shows.
    pub title: String,
    /// Where its numbers are from: a file, a column, and what was done with it.
    pub source: &'static str,
    /// The chart.
    pub content: Content,
}

/// A name, and the files of a plot in the folder of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub name: &'static str,
    /// The SVG.
    pub svg: &'static str,
    /// The PNG.
    pub png: &'static str,
}

/// What there is to show.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A chart.
    Chart(Box<Chart>),
    /// Nothing, and why.
    Nothing(String),
}

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What of.
    pub subtitle: String,
    /// From left to right.
    pub x: Axis,
    /// From below to above; of bars, unused but for its label.
    pub y: Axis,
    /// What is in it.
    pub marks: Marks,
    /// What happened when, to be marked where that is readable.
    pub events: Vec<Event>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Where on the x axis.
    pub at: f64,
    /// What.
    pub label: String,
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What is measured; the unit is added.
    pub label: String,
    /// In what.
    pub unit: Unit,
    /// How.
    pub scaling: Scaling,
}

/// How values become places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaling {
    /// In proportion, from 0.
    Linear,
    /// By their logarithm.
    Log,
}

/// What numbers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Things.
    Count,
    /// Bytes.
    Bytes,
    /// Milliseconds.
    Ms,
    /// Nanoseconds.
    Ns,
    /// Parts of 100.
    Percent,
}

/// What is in a chart.
#[derive(Debug, Clone, PartialEq)]
pub enum Marks {
    /// Lines.
    Lines(Vec<Line>),
    /// Stacked bars.
    Bars(Bars),
}

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Of what.
    pub name: String,
    /// What the legend says beside the name.
    pub note: String,
    /// How it looks.
    pub style: Style,
    /// Whether a value holds until the next one.
    pub steps: bool,
    /// Its points, x ascending.
    pub points: Vec<(f64, f64)>,
}

/// Bars from left to right, one beneath the other, each of parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// The names of the bars.
    pub bars: Vec<String>,
    /// The parts, each with a value for each bar; what a bar does not have is not known.
    pub parts: Vec<Part>,
}

/// A part of every bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What.
    pub name: String,
    /// For each bar.
    pub values: Vec<Option<f64>>,
}
