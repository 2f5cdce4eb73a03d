//! The font that the project carries, and how wide a text is in it.

use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::{FontRef, MetadataProvider};

/// DejaVu Sans, reduced to Latin-1 and a few signs; `LICENSE` is beside it.
pub const FONT: &[u8] = include_bytes!("../font/DejaVuSans.ttf");

/// Its name, and what looks like it where it is not.
pub const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// DejaVu's units in an em.
const UNITS: f64 = 2048.0;

/// How wide a character is that the font does not have, in its units.
const UNKNOWN: f32 = 1229.0;

/// How wide a text is at a size, kerning left out.
pub fn width(text: &str, size: f64) -> f64 {
    let Ok(font) = FontRef::new(FONT) else { return 0.6 * size * text.chars().count() as f64 };
    let metrics = GlyphMetrics::new(&font, Size::unscaled(), LocationRef::default());
    let glyphs = font.charmap();
    let advance = |c: char| glyphs.map(c).and_then(|glyph| metrics.advance_width(glyph)).unwrap_or(UNKNOWN);
    let units: f64 = text.chars().map(|c| f64::from(advance(c))).sum();
    units / UNITS * size
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As FontForge says of DejaVu Sans: m 1995 units, i 569, space 651.
    #[test]
    fn widths_are_the_fonts() {
        assert_eq!(width("m", 2048.0), 1995.0);
        assert_eq!(width("i i", 1024.0), (569.0 + 651.0 + 569.0) / 2.0);
        assert_eq!(width("漢", 2048.0), 1229.0);
    }
}
