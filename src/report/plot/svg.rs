//! Writing SVG.

use super::font;
use std::fmt::Write;

/// How texts stand to their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// They begin there.
    Start,
    /// Their middle is there.
    Middle,
    /// They end there.
    End,
}

/// A drawing in the making.
#[derive(Debug, Default)]
pub struct Svg {
    text: String,
}

impl Svg {
    /// An element without content; `attributes` as they stand in it.
    pub fn leaf(&mut self, tag: &str, attributes: &str) {
        let _ = writeln!(self.text, "<{tag} {attributes}/>");
    }

    /// An element with text.
    pub fn with_text(&mut self, tag: &str, attributes: &str, text: &str) {
        let space = if attributes.is_empty() { "" } else { " " };
        let _ = writeln!(self.text, "<{tag}{space}{attributes}>{}</{tag}>", escape(text));
    }

    /// Opens an element.
    pub fn open(&mut self, tag: &str, attributes: &str) {
        let _ = writeln!(self.text, "<{tag} {attributes}>");
    }

    /// Closes it.
    pub fn close(&mut self, tag: &str) {
        let _ = writeln!(self.text, "</{tag}>");
    }

    /// A text at a place.
    pub fn label(&mut self, (x, y): (f64, f64), anchor: Anchor, size: f64, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let attributes =
            format!("class=\"ink\" x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"#222222\"{anchor}", n(x), n(y), n(size));
        self.with_text("text", &attributes, text);
    }

    /// The drawing, with its size and what it shows for those who do not see it.
    pub fn finish(self, name: &str, (width, height): (f64, f64), title: &str, description: &str) -> String {
        let (width, height) = (n(width), n(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             role=\"img\" aria-labelledby=\"{name}-title {name}-desc\" font-family=\"{}\">\n\
             <title id=\"{name}-title\">{}</title>\n<desc id=\"{name}-desc\">{}</desc>\n\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            font::FAMILY,
            escape(title),
            escape(description),
            self.text
        )
    }
}

/// A number with at most one decimal.
pub fn n(number: f64) -> String {
    let tenths = (number * 10.0).round() as i64;
    let sign = if tenths < 0 { "-" } else { "" };
    match tenths.abs() % 10 {
        0 => format!("{sign}{}", tenths.abs() / 10),
        tenth => format!("{sign}{}.{tenth}", tenths.abs() / 10),
    }
}

/// A text as it stands in XML and HTML, attributes too.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() => escaped.push('\u{FFFD}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_decimal_at_most() {
        assert_eq!([n(1.0), n(1.25), n(-0.04), n(-1.06)], ["1", "1.3", "0", "-1.1"]);
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escape("a<b>&\"c'\u{1}"), "a&lt;b&gt;&amp;&quot;c&#39;\u{FFFD}");
    }
}
