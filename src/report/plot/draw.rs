//! Draws a chart: its title, axes, legend, and what is in it.

use super::bars;
use super::chart::{Chart, Content, Event, Figure, Marks, Unit};
use super::font;
use super::lines::{self, Box2};
use super::scale::{Scale, range};
use super::style::{Marker, Style};
use super::svg::{Anchor, Svg, escape, n};
use serde::Serialize;

/// The size of a drawing with lines: a column of a page.
pub const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
pub const MARGIN: f64 = 12.0;
pub const TEXT: f64 = 12.0;
const TITLE: f64 = 15.0;
/// From the upper edge to what is drawn.
pub const HEADER: f64 = 54.0;
const LEGEND_LINE: f64 = 20.0;
const SAMPLE: f64 = 34.0;
/// More events than that are not marked: nobody could read them.
const EVENTS: usize = 8;

/// A drawn figure.
#[derive(Debug, Clone)]
pub struct Drawing {
    /// The SVG.
    pub svg: String,
    /// What is needed to say values where somebody points; bars have it in the drawing.
    pub hover: Option<Hover>,
}

/// How places become values again.
#[derive(Debug, Clone, Serialize)]
pub struct Hover {
    x: HoverAxis,
    y: HoverAxis,
    lines: Vec<HoverLine>,
}

#[derive(Debug, Clone, Serialize)]
struct HoverAxis {
    label: String,
    unit: &'static str,
    from: f64,
    to: f64,
    low: f64,
    high: f64,
    log: bool,
}

#[derive(Debug, Clone, Serialize)]
struct HoverLine {
    name: String,
    steps: bool,
    points: Vec<(f64, f64)>,
}

/// Draws a figure; nothing if there is nothing to show. `id` tells it from others in the same page.
pub fn draw(figure: &Figure, id: &str) -> Option<Drawing> {
    let Content::Chart(chart) = &figure.content else { return None };
    Some(match &chart.marks {
        Marks::Lines(lines) => draw_lines(figure, id, chart, lines),
        Marks::Bars(of) => Drawing { svg: bars::draw(figure, id, chart, of), hover: None },
    })
}

/// Title and subtitle.
pub fn header(svg: &mut Svg, figure: &Figure, chart: &Chart) {
    svg.label((MARGIN, 22.0), Anchor::Start, TITLE, &figure.title);
    svg.label((MARGIN, 39.0), Anchor::Start, 11.0, &chart.subtitle);
}

/// An entry of a legend, and where it stands.
pub struct Entry {
    /// Which.
    pub index: usize,
    /// From the left.
    pub x: f64,
    /// In which line.
    pub line: usize,
}

/// Puts entries of a legend with such texts side by side, as many as fit in a line.
pub fn legend(texts: &[String], sample: f64) -> (Vec<Entry>, f64) {
    let widest = texts.iter().map(|text| font::width(text, TEXT)).fold(0.0, f64::max);
    let column = sample + 6.0 + widest + 18.0;
    let columns = ((((WIDTH - 2.0 * MARGIN) + 18.0) / column) as usize).max(1);
    let entry = |index| Entry { index, x: MARGIN + (index % columns) as f64 * column, line: index / columns };
    let entries: Vec<Entry> = (0..texts.len()).map(entry).collect();
    let lines = entries.last().map_or(0, |entry| entry.line + 1);
    (entries, lines as f64 * LEGEND_LINE)
}

/// The middle of an entry's line, below `top`.
pub fn legend_y(top: f64, entry: &Entry) -> f64 {
    top + (entry.line as f64 + 0.5) * LEGEND_LINE
}

fn draw_lines(figure: &Figure, id: &str, chart: &Chart, all: &[lines::Line]) -> Drawing {
    let values = || all.iter().flat_map(|line| &line.points);
    let y = Scale::new(
        &chart.y,
        range(values().map(|point| point.1)).unwrap_or((0.0, 1.0)),
        chart.y.unit == Unit::Percent,
        5,
    );
    let x = Scale::new(&chart.x, range(values().map(|point| point.0)).unwrap_or((0.0, 1.0)), true, 8);
    let texts: Vec<String> = all.iter().map(|line| format!("{}{}", line.name, line.note)).collect();
    let (entries, legend_height) = legend(&texts, SAMPLE);
    let widest = y.ticks.iter().map(|tick| font::width(&tick.label, TEXT)).fold(0.0, f64::max);
    let events = shown(&chart.events);
    let event_height = if events.is_empty() { 0.0 } else { 26.0 };
    let area = Box2 {
        left: MARGIN + 18.0 + widest + 6.0,
        top: HEADER + event_height,
        right: WIDTH - MARGIN - 8.0,
        bottom: HEIGHT - MARGIN - legend_height - 42.0,
    };
    let (x, y) = (x.between(area.left, area.right), y.between(area.bottom, area.top));
    let mut svg = Svg::default();
    header(&mut svg, figure, chart);
    axes(&mut svg, &area, &x, &y);
    mark_events(&mut svg, &area, &x, &events);
    let thinned: Vec<Vec<(f64, f64)>> = all.iter().map(|line| lines::thin(line, &x)).collect();
    for (index, (line, points)) in all.iter().zip(&thinned).enumerate() {
        svg.open("g", &format!("class=\"series\" data-series=\"{}\"", escape(&line.name)));
        lines::draw(&mut svg, line, points, (index, all.len()), &x, &y);
        svg.close("g");
    }
    let top = HEIGHT - MARGIN - legend_height;
    for entry in entries {
        let (line, y) = (&all[entry.index], legend_y(top, &entry));
        svg.open("g", &format!("class=\"series\" data-series=\"{}\"", escape(&line.name)));
        stroke(&mut svg, &line.style, &format!("M{} {}h{}", n(entry.x), n(y), n(SAMPLE)));
        marker(&mut svg, &line.style, (entry.x + SAMPLE / 2.0, y));
        svg.label((entry.x + SAMPLE + 6.0, y + 4.0), Anchor::Start, TEXT, &texts[entry.index]);
        svg.close("g");
    }
    let hover_axis = |axis: &super::chart::Axis, scale: &Scale| HoverAxis {
        label: axis.label.clone(),
        unit: unit_name(axis.unit),
        from: scale.from,
        to: scale.to,
        low: scale.low,
        high: scale.high,
        log: axis.scaling == super::chart::Scaling::Log,
    };
    let hover_line = |(line, points): (&lines::Line, Vec<(f64, f64)>)| HoverLine {
        name: line.name.clone(),
        steps: line.steps,
        points,
    };
    let hover = Hover {
        x: hover_axis(&chart.x, &x),
        y: hover_axis(&chart.y, &y),
        lines: all.iter().zip(thinned).map(hover_line).collect(),
    };
    let description = format!("{}. {} by {}.", chart.subtitle, chart.y.label, chart.x.label);
    Drawing { svg: svg.finish(id, (WIDTH, HEIGHT), &figure.title, &description), hover: Some(hover) }
}

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Count => "count",
        Unit::Bytes => "bytes",
        Unit::Ms => "ms",
        Unit::Ns => "ns",
        Unit::Percent => "percent",
    }
}

/// Grid, ticks and labels.
fn axes(svg: &mut Svg, area: &Box2, x: &Scale, y: &Scale) {
    let mut grid = String::new();
    for tick in &y.ticks {
        let place = y.place(tick.at);
        grid.push_str(&format!("M{} {}H{}", n(area.left), n(place), n(area.right)));
        svg.label((area.left - 6.0, place + 4.0), Anchor::End, TEXT, &tick.label);
    }
    svg.leaf("path", &format!("class=\"grid\" d=\"{grid}\" stroke=\"#dddddd\" fill=\"none\""));
    let mut ticks = format!("M{} {}V{}H{}", n(area.left), n(area.top), n(area.bottom), n(area.right));
    for tick in &x.ticks {
        let place = x.place(tick.at);
        ticks.push_str(&format!("M{} {}v5", n(place), n(area.bottom)));
        svg.label((place, area.bottom + 18.0), Anchor::Middle, TEXT, &tick.label);
    }
    svg.leaf("path", &format!("class=\"axis\" d=\"{ticks}\" stroke=\"#444444\" fill=\"none\""));
    let middle = (area.left + area.right) / 2.0;
    svg.label((middle, area.bottom + 35.0), Anchor::Middle, TEXT, &x.label);
    let middle = (area.top + area.bottom) / 2.0;
    svg.open("g", &format!("transform=\"translate({} {}) rotate(-90)\"", n(MARGIN + 10.0), n(middle)));
    svg.label((0.0, 0.0), Anchor::Middle, TEXT, &y.label);
    svg.close("g");
}

/// The events that are marked: none if they are too many.
fn shown(events: &[Event]) -> Vec<&Event> {
    if events.len() > EVENTS { Vec::new() } else { events.iter().collect() }
}

/// Lines where something happened, with words above, in two rows; words that find no place are left out.
fn mark_events(svg: &mut Svg, area: &Box2, x: &Scale, events: &[&Event]) {
    let mut free = [area.left - 20.0; 2];
    for event in events {
        let place = x.place(event.at);
        let line = format!("M{} {}V{}", n(place), n(area.top), n(area.bottom));
        svg.leaf(
            "path",
            &format!("class=\"event\" d=\"{line}\" stroke=\"#888888\" stroke-dasharray=\"2 3\" fill=\"none\""),
        );
        let half = font::width(&event.label, 10.5) / 2.0;
        let middle = place.min(WIDTH - MARGIN - half).max(MARGIN + half);
        if let Some(row) = free.iter().position(|free| middle - half >= *free) {
            free[row] = middle + half + 5.0;
            svg.label((middle, area.top - 5.0 - 12.0 * row as f64), Anchor::Middle, 10.5, &event.label);
        }
    }
}

/// A line in a style.
pub fn stroke(svg: &mut Svg, style: &Style, path: &str) {
    let dash = if style.dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", style.dash) };
    let cap = if style.dash.starts_with("1 ") { " stroke-linecap=\"round\"" } else { "" };
    let class = class(style);
    svg.leaf(
        "path",
        &format!("{class}d=\"{path}\" stroke=\"{}\" stroke-width=\"2\" fill=\"none\"{dash}{cap}", style.color),
    );
}

fn class(style: &Style) -> &'static str {
    if style.color == super::style::BLACK { "class=\"black\" " } else { "" }
}

/// A mark in a style.
pub fn marker(svg: &mut Svg, style: &Style, (x, y): (f64, f64)) {
    let class = class(style);
    let (fill, outline) = (
        format!("fill=\"{}\"", style.color),
        format!("fill=\"#ffffff\" stroke=\"{}\" stroke-width=\"1.8\"", style.color),
    );
    let path = |path: &str| format!("d=\"M{} {}{path}\"", n(x), n(y));
    match style.marker {
        Marker::Circle => svg.leaf("circle", &format!("{class}cx=\"{}\" cy=\"{}\" r=\"4\" {fill}", n(x), n(y))),
        Marker::Ring => {
            svg.leaf("circle", &format!("{class}cx=\"{}\" cy=\"{}\" r=\"3.6\" {outline}", n(x), n(y)));
        }
        Marker::Square => svg.leaf("path", &format!("{class}{} {fill}", path("m-3.7 -3.7h7.4v7.4h-7.4z"))),
        Marker::Frame => svg.leaf("path", &format!("{class}{} {outline}", path("m-3.4 -3.4h6.8v6.8h-6.8z"))),
        Marker::Triangle => svg.leaf("path", &format!("{class}{} {fill}", path("m0 -5l4.8 8.2h-9.6z"))),
        Marker::Diamond => svg.leaf("path", &format!("{class}{} {fill}", path("m0 -5.2l4.4 5.2l-4.4 5.2l-4.4 -5.2z"))),
        Marker::Cross => stroke_mark(svg, style, class, &path("m-3.8 -3.8l7.6 7.6m0 -7.6l-7.6 7.6")),
        Marker::Plus => stroke_mark(svg, style, class, &path("m-4.6 0h9.2m-4.6 -4.6v9.2")),
    }
}

fn stroke_mark(svg: &mut Svg, style: &Style, class: &str, path: &str) {
    svg.leaf("path", &format!("{class}{path} stroke=\"{}\" stroke-width=\"2.2\" fill=\"none\"", style.color));
}
