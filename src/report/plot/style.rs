//! How strategies look: the same everywhere, told apart without colours too. Colours are those of Okabe and Ito, which the
//! colour-blind can tell apart.

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Its colour.
    pub color: &'static str,
    /// Dashes and gaps; empty: solid.
    pub dash: &'static str,
    /// What stands on it here and there.
    pub marker: Marker,
}

/// A mark on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// Filled.
    Circle,
    /// Filled.
    Square,
    /// Filled.
    Triangle,
    /// Filled.
    Diamond,
    /// Two strokes.
    Cross,
    /// A circle that is not filled.
    Ring,
    /// A square that is not filled.
    Frame,
    /// Two upright strokes.
    Plus,
}

/// Black stands for the bound; on a dark page it is drawn light.
pub const BLACK: &str = "#000000";

/// The colours of parts of bars, in order.
pub const PARTS: [&str; 8] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999"];

const fn style(color: &'static str, dash: &'static str, marker: Marker) -> Style {
    Style { color, dash, marker }
}

const PRESETS: [(&str, Style); 6] = [
    ("full-map", style("#D55E00", "", Marker::Circle)),
    ("count-map", style("#E69F00", "9 3", Marker::Square)),
    ("stored-hash", style("#56B4E9", "5 3", Marker::Triangle)),
    ("recompute", style("#CC79A7", "9 3 2 3", Marker::Diamond)),
    ("cached-hash", style("#0072B2", "2 2", Marker::Cross)),
    ("ideal", style(BLACK, "1 4", Marker::Ring)),
];

/// The others, in the order in which they come.
const OTHERS: [Style; 6] = [
    style("#009E73", "12 4", Marker::Plus),
    style("#B8A800", "6 2 1 2 1 2", Marker::Frame),
    style("#7A5195", "3 5", Marker::Circle),
    style("#8C6D31", "14 3 3 3", Marker::Square),
    style("#666666", "7 7", Marker::Triangle),
    style("#005F73", "4 1", Marker::Diamond),
];

/// The styles of strategies: those of presets are fixed.
pub fn styles_of(strategies: &[String]) -> Vec<Style> {
    let mut others = OTHERS.into_iter().cycle();
    let preset = |name: &String| PRESETS.iter().find(|(preset, _)| preset == name).map(|(_, style)| *style);
    strategies.iter().filter_map(|name| preset(name).or_else(|| others.next())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_looks_the_same_beside_any_others() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let all = styles_of(&names(&["mine", "full-map", "yours", "cached-hash"]));
        assert_eq!(styles_of(&names(&["cached-hash"])), all[3..]);
        assert_eq!((all[3].color, all[1].color), ("#0072B2", "#D55E00"));
        for (index, style) in all.iter().enumerate() {
            let others = all[index + 1..].iter();
            let differs =
                |other: &Style| other.color != style.color && other.dash != style.dash && other.marker != style.marker;
            assert!(others.clone().all(differs), "{style:?}");
        }
    }
}
