//! Stacked bars, one beneath the other. Parts have colours, and hatchings so that they are told apart without them.

use super::chart::{Bars, Chart, Figure};
use super::draw::{HEADER, MARGIN, TEXT, WIDTH, header, legend, legend_y};
use super::font;
use super::scale::{Scale, in_words};
use super::style::PARTS;
use super::svg::{Anchor, Svg, escape, n};

const BAR: f64 = 24.0;
const GAP: f64 = 9.0;
const SAMPLE: f64 = 22.0;

/// What is drawn over a part's colour, in a square of 8.
const HATCHINGS: [&str; 8] = [
    "",
    "M-2 10L10 -2M-2 2L2 -2M6 10L10 6",
    "M-2 -2L10 10M6 -2L10 2M-2 6L2 10",
    "M0 4H8",
    "M4 0V8",
    "M0 4H8M4 0V8",
    "M2 2h1.5v1.5h-1.5zM6 6h1.5v1.5h-1.5z",
    "M-2 10L10 -2M-2 -2L10 10",
];

/// Draws bars.
pub fn draw(figure: &Figure, id: &str, chart: &Chart, of: &Bars) -> String {
    let texts: Vec<String> = of.parts.iter().map(|part| part.name.clone()).collect();
    let (entries, legend_height) = if of.parts.len() > 1 { legend(&texts, SAMPLE) } else { (Vec::new(), 0.0) };
    let sums: Vec<Option<f64>> = (0..of.bars.len()).map(|bar| sum(of, bar)).collect();
    let totals: Vec<String> =
        sums.iter().map(|sum| sum.map_or("–".to_owned(), |sum| in_words(chart.x.unit, sum))).collect();
    let widest = |texts: &[String]| texts.iter().map(|text| font::width(text, TEXT)).fold(0.0, f64::max);
    let left = MARGIN + widest(&of.bars) + 8.0;
    let right = WIDTH - MARGIN - widest(&totals) - 8.0;
    let bottom = HEADER + of.bars.len() as f64 * (BAR + GAP);
    let high = sums.iter().flatten().copied().fold(0.0, f64::max);
    let x = Scale::new(&chart.x, (0.0, high), true, 6).between(left, right);
    let mut svg = Svg::default();
    header(&mut svg, figure, chart);
    define(&mut svg, id, of.parts.len());
    let mut grid = String::new();
    for tick in &x.ticks {
        let place = x.place(tick.at);
        grid.push_str(&format!("M{} {}V{}", n(place), n(HEADER - 4.0), n(bottom)));
        svg.label((place, bottom + 15.0), Anchor::Middle, TEXT, &tick.label);
    }
    svg.leaf("path", &format!("class=\"grid\" d=\"{grid}\" stroke=\"#dddddd\" fill=\"none\""));
    for (bar, name) in of.bars.iter().enumerate() {
        let top = HEADER + bar as f64 * (BAR + GAP);
        svg.open("g", &format!("class=\"series\" data-series=\"{}\"", escape(name)));
        svg.label((left - 8.0, top + BAR / 2.0 + 4.0), Anchor::End, TEXT, name);
        let mut from = 0.0;
        for (index, part) in of.parts.iter().enumerate() {
            let value = part.values.get(bar).copied().flatten().unwrap_or(0.0);
            if value > 0.0 {
                let (begin, end) = (x.place(from), x.place(from + value));
                let words = format!("{}, {}: {}", name, part.name, in_words(chart.x.unit, value));
                rectangle(&mut svg, id, index, (begin, top, end - begin, BAR), &words);
                from += value;
            }
        }
        svg.label((x.place(from) + 6.0, top + BAR / 2.0 + 4.0), Anchor::Start, TEXT, &totals[bar]);
        svg.close("g");
    }
    svg.leaf(
        "path",
        &format!(
            "class=\"axis\" d=\"M{} {}V{}\" stroke=\"#444444\" fill=\"none\"",
            n(left),
            n(HEADER - 4.0),
            n(bottom)
        ),
    );
    svg.label(((left + right) / 2.0, bottom + 33.0), Anchor::Middle, TEXT, &x.label);
    let legend_top = bottom + 46.0;
    for entry in entries {
        let y = legend_y(legend_top, &entry);
        rectangle(&mut svg, id, entry.index, (entry.x, y - 7.0, SAMPLE, 14.0), &texts[entry.index]);
        svg.label((entry.x + SAMPLE + 6.0, y + 4.0), Anchor::Start, TEXT, &texts[entry.index]);
    }
    let height = legend_top + legend_height + if legend_height > 0.0 { MARGIN } else { 0.0 };
    let description = format!("{}. {} of {}.", chart.subtitle, chart.x.label, of.bars.join(", "));
    svg.finish(id, (WIDTH, height.ceil()), &figure.title, &description)
}

fn sum(of: &Bars, bar: usize) -> Option<f64> {
    let values = of.parts.iter().filter_map(|part| part.values.get(bar).copied().flatten());
    values.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}

/// The hatchings of as many parts.
fn define(svg: &mut Svg, name: &str, parts: usize) {
    svg.open("defs", "");
    for index in 0..parts {
        let path = hatching(index);
        if path.is_empty() {
            continue;
        }
        let pattern = format!("id=\"{name}-hatch-{index}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"");
        svg.open("pattern", &pattern);
        svg.leaf("path", &format!("d=\"{path}\" stroke=\"#ffffff\" stroke-width=\"1.4\" fill=\"none\""));
        svg.close("pattern");
    }
    svg.close("defs");
}

/// Colours come again after eight parts, with other hatchings.
fn hatching(index: usize) -> &'static str {
    HATCHINGS[(index + index / PARTS.len()) % HATCHINGS.len()]
}

fn rectangle(svg: &mut Svg, name: &str, index: usize, (x, y, width, height): (f64, f64, f64, f64), words: &str) {
    let place = format!("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", n(x), n(y), n(width.max(0.3)), n(height));
    svg.open("g", "class=\"part\"");
    svg.with_text("title", "", words);
    svg.leaf(
        "rect",
        &format!("{place} fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"0.8\"", PARTS[index % PARTS.len()]),
    );
    if !hatching(index).is_empty() {
        svg.leaf("rect", &format!("{place} fill=\"url(#{name}-hatch-{index})\""));
    }
    svg.close("g");
}
