//! Means of independent runs and how far they can be trusted: Student's confidence intervals. Sums are of integers, so that
//! nothing depends on their order.

/// The confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;

/// What is known of some numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sample {
    /// How many.
    pub len: u64,
    sum: i128,
    sum_of_squares: i128,
}

impl FromIterator<i64> for Sample {
    fn from_iter<I: IntoIterator<Item = i64>>(numbers: I) -> Sample {
        let mut sample = Sample::default();
        for number in numbers {
            let number = i128::from(number);
            sample.len += 1;
            sample.sum += number;
            // At most 100,000 squares of numbers below 2⁶³ do not fit; figures are far smaller.
            sample.sum_of_squares = sample.sum_of_squares.saturating_add(number * number);
        }
        sample
    }
}

impl Sample {
    /// The mean; 0 of nothing.
    pub fn mean(&self) -> f64 {
        if self.len == 0 { 0.0 } else { self.sum as f64 / self.len as f64 }
    }

    /// The variance, with n - 1; `None` of fewer than two numbers.
    pub fn variance(&self) -> Option<f64> {
        let n = i128::from(self.len);
        let spread = n.checked_mul(self.sum_of_squares)?.checked_sub(self.sum.checked_mul(self.sum)?)?;
        (n > 1).then(|| spread as f64 / (n * (n - 1)) as f64)
    }

    /// Half the width of the confidence interval of the mean.
    pub fn half_width(&self) -> Option<f64> {
        Some(student_t(self.len - 1, CONFIDENCE) * (self.variance()? / self.len as f64).sqrt())
    }

    /// Whether half the interval is at most that part of the mean.
    pub fn is_precise(&self, relative: f64) -> bool {
        self.half_width().is_some_and(|half| half <= relative * self.mean().abs())
    }
}

/// How many standard errors around the mean hold it with a confidence, for `degrees` degrees of freedom: the two-sided quantile
/// of Student's distribution.
pub fn student_t(degrees: u64, confidence: f64) -> f64 {
    let mut high = 1.0;
    while within(high, degrees) < confidence {
        high *= 2.0;
    }
    let mut low = 0.0;
    // The last bit of a double is reached before.
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        if within(middle, degrees) < confidence { low = middle } else { high = middle }
    }
    high
}

/// The probability that Student's t is between -`t` and `t` (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn within(t: f64, degrees: u64) -> f64 {
    let n = degrees as f64;
    let squared_cosine = 1.0 / (1.0 + t * t / n);
    let sine = (1.0 - squared_cosine).sqrt();
    let is_odd = degrees % 2 == 1;
    // Sum of products of (k-1)/k · cos² over every other k, up to the degrees of freedom.
    let (mut term, mut sum, mut k) = (1.0, 1.0, if is_odd { 3 } else { 2 });
    while k < degrees {
        term *= (k - 1) as f64 / k as f64 * squared_cosine;
        sum += term;
        k += 2;
        if term < sum * 1e-17 {
            break;
        }
    }
    if !is_odd {
        return sine * sum;
    }
    let angle = libm::atan(t / n.sqrt());
    let rest = if degrees == 1 { 0.0 } else { sine * squared_cosine.sqrt() * sum };
    std::f64::consts::FRAC_2_PI * (angle + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two-sided 95 % points of Student's distribution as tables give them.
    #[test]
    fn quantiles_are_those_of_tables() {
        let table = [
            (1, "12.7062"),
            (2, "4.3027"),
            (3, "3.1824"),
            (4, "2.7764"),
            (9, "2.2622"),
            (10, "2.2281"),
            (29, "2.0452"),
            (30, "2.0423"),
            (99, "1.9842"),
            (1_000, "1.9623"),
            (99_999, "1.9600"),
        ];
        for (degrees, expected) in table {
            assert_eq!(format!("{:.4}", student_t(degrees, 0.95)), expected, "{degrees}");
        }
        assert_eq!(format!("{:.4}", student_t(5, 0.99)), "4.0321");
    }

    #[test]
    fn intervals() {
        let sample: Sample = [2, 4, 4, 4, 5, 5, 7, 9].into_iter().collect();
        assert_eq!((sample.len, sample.mean()), (8, 5.0));
        // 32 / 7, and t(7) = 2.3646.
        assert_eq!(format!("{:.6}", sample.variance().expect("eight")), "4.571429");
        assert_eq!(format!("{:.4}", sample.half_width().expect("eight")), "1.7875");
        assert!(sample.is_precise(0.36) && !sample.is_precise(0.35));
        assert_eq!([3].into_iter().collect::<Sample>().half_width(), None);
        let same: Sample = [7, 7, 7].into_iter().collect();
        assert!(same.is_precise(0.0));
        let zero: Sample = [0, 0].into_iter().collect();
        assert!(zero.is_precise(0.0));
    }
}
