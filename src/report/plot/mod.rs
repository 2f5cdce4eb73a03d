//! Plots: a typed chart, drawn as SVG, and as PNG rendered from that same SVG with the font that the project carries. No platform
//! float functions, no fonts of the machine: the same bytes everywhere.
//!
//! The SVG is written here rather than by a plotting library: those take logarithms and powers from the platform, know no dash
//! patterns and no groups, which the page needs to switch strategies on and off.

mod bars;
mod chart;
mod draw;
mod font;
mod lines;
mod of_run;
mod png;
mod scale;
mod style;
mod svg;
#[cfg(test)]
mod tests;

use crate::results::OutputFile;
use rayon::prelude::*;

pub use chart::{Axis, Bars, Chart, Content, Event, Figure, Line, Marks, Name, Part, Scaling, Unit};
pub use draw::{Drawing, draw};
pub use of_run::figures;
pub use png::{RenderError, Renderer};
pub use style::{BLACK, Style, styles_of};
pub use svg::escape;

/// The files of figures: an SVG and a PNG of each of which there is something to show.
///
/// # Errors
/// If a drawing cannot be rendered.
pub fn files(figures: &[Figure]) -> Result<Vec<OutputFile>, RenderError> {
    let renderer = Renderer::default();
    let drawn: Vec<(Name, Drawing)> =
        figures.iter().filter_map(|figure| Some((figure.name, draw(figure, figure.name.name)?))).collect();
    let render = |(name, drawing): (Name, Drawing)| {
        let png = OutputFile { name: name.png, bytes: renderer.png(&drawing.svg)? };
        Ok([OutputFile { name: name.svg, bytes: drawing.svg.into_bytes() }, png])
    };
    let files: Result<Vec<_>, RenderError> = drawn.into_par_iter().map(render).collect();
    Ok(files?.into_iter().flatten().collect())
}
