//! Lines of a chart.

pub use super::chart::Line;
use super::draw::{marker, stroke};
use super::scale::Scale;
use super::svg::{Svg, n};

/// How many marks a line has.
const MARKS: usize = 6;

/// Where something is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Box2 {
    /// Its left edge.
    pub left: f64,
    /// Its upper edge.
    pub top: f64,
    /// Its right edge.
    pub right: f64,
    /// Its lower edge.
    pub bottom: f64,
}

/// The points that make a difference: of those that stand at the same place from left to right the first, the least, the greatest
/// and the last.
pub fn thin(line: &Line, x: &Scale) -> Vec<(f64, f64)> {
    let column = |point: &(f64, f64)| (x.place(point.0) * 2.0).round() as i64;
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for points in line.points.chunk_by(|a, b| column(a) == column(b)) {
        let by_y = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let ends = [points.first(), points.iter().min_by(by_y), points.iter().max_by(by_y), points.last()];
        let mut ends: Vec<(f64, f64)> = ends.into_iter().flatten().copied().collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        ends.dedup();
        kept.extend(ends);
    }
    // Of values that stay the same, the first and the last.
    let is_needed = |index: usize| {
        let neighbours = index.checked_sub(1).and_then(|before| Some((kept.get(before)?, kept.get(index + 1)?)));
        neighbours.is_none_or(|(before, after)| before.1 != kept[index].1 || after.1 != kept[index].1)
    };
    (0..kept.len()).filter(|&index| is_needed(index)).map(|index| kept[index]).collect()
}

/// Draws a line that is one of several: their marks stand beside each other where lines coincide.
pub fn draw(svg: &mut Svg, line: &Line, points: &[(f64, f64)], (index, of): (usize, usize), x: &Scale, y: &Scale) {
    let places: Vec<(f64, f64)> = points.iter().map(|point| (x.place(point.0), y.place(point.1))).collect();
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return };
    let mut path = format!("M{} {}", n(first.0), n(first.1));
    for pair in places.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        match line.steps {
            true if before.1 == after.1 => path.push_str(&format!("H{}", n(after.0))),
            true => path.push_str(&format!("H{}V{}", n(after.0), n(after.1))),
            false => path.push_str(&format!("L{} {}", n(after.0), n(after.1))),
        }
    }
    stroke(svg, &line.style, &path);
    if !line.steps && places.len() <= 2 * MARKS {
        places.iter().for_each(|place| marker(svg, &line.style, *place));
        return;
    }
    let part = (x.to - x.from) / MARKS as f64;
    for mark in 0..MARKS {
        let at = x.from + part * (mark as f64 + (index as f64 + 0.5) / of as f64);
        if at >= first.0 && at <= last.0 {
            marker(svg, &line.style, (at, height(&places, line.steps, at)));
        }
    }
}

/// How high a line is at a place between its ends.
fn height(places: &[(f64, f64)], steps: bool, at: f64) -> f64 {
    let after = places.partition_point(|place| place.0 <= at);
    let before = places[after.saturating_sub(1)];
    match places.get(after) {
        Some(next) if !steps && next.0 > before.0 => {
            before.1 + (at - before.0) / (next.0 - before.0) * (next.1 - before.1)
        }
        _ => before.1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::chart::{Axis, Scaling, Unit};
    use super::super::style::styles_of;
    use super::*;

    fn line(points: Vec<(f64, f64)>) -> Line {
        let style = styles_of(&["ideal".to_owned()])[0];
        Line { name: "ideal".to_owned(), note: String::new(), style, steps: true, points }
    }

    #[test]
    fn thinning_keeps_extremes() {
        let axis = Axis { label: String::new(), unit: Unit::Count, scaling: Scaling::Linear };
        let x = Scale::new(&axis, (0.0, 100_000.0), true, 5).between(0.0, 100.0);
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i), 5.0)).collect();
        points[70_000].1 = 9.0;
        points[70_001].1 = 2.0;
        let thinned = thin(&line(points), &x);
        assert!(thinned.contains(&(70_000.0, 9.0)) && thinned.contains(&(70_001.0, 2.0)), "{thinned:?}");
        assert!(thinned.len() < 10, "{thinned:?}");
        assert_eq!([thinned[0], thinned[thinned.len() - 1]], [(0.0, 5.0), (99_999.0, 5.0)]);
    }

    #[test]
    fn a_step_holds_until_the_next() {
        let places = [(0.0, 10.0), (10.0, 20.0)];
        assert_eq!([height(&places, true, 9.0), height(&places, true, 10.0)], [10.0, 20.0]);
        assert_eq!(height(&places, false, 9.0), 19.0);
    }
}
