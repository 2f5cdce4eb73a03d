//! SVG as PNG, by a renderer that takes nothing from the machine.

use super::font::FONT;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::sync::Arc;

/// Pixels for each unit of the drawing: sharp in print at column width.
const SCALE: f32 = 2.0;

/// A drawing that cannot be rendered.
#[derive(Debug, thiserror::Error)]
#[error("cannot render a plot: {0}")]
pub struct RenderError(String);

/// Renders drawings, all with the same font.
#[derive(Debug)]
pub struct Renderer {
    options: Options<'static>,
}

impl Default for Renderer {
    fn default() -> Renderer {
        let mut options = Options { font_family: "DejaVu Sans".to_owned(), ..Options::default() };
        Arc::make_mut(&mut options.fontdb).load_font_data(FONT.to_vec());
        Renderer { options }
    }
}

impl Renderer {
    /// The PNG of an SVG.
    ///
    /// # Errors
    /// If the SVG is not understood.
    pub fn png(&self, svg: &str) -> Result<Vec<u8>, RenderError> {
        let tree = Tree::from_str(svg, &self.options).map_err(|error| RenderError(error.to_string()))?;
        let size = tree.size().to_int_size().scale_by(SCALE);
        let pixels = size.and_then(|size| Pixmap::new(size.width(), size.height()));
        let mut pixels = pixels.ok_or_else(|| RenderError("it has no size".to_owned()))?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| RenderError(error.to_string()))
    }
}
