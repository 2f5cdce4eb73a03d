//! A value that can go back to the last committed write (`TimelineInteger`, `TimelineObject`).

/// One value and, once changed since the last commit, the one before.
#[derive(Debug, Clone, Default)]
pub struct Timeline<T> {
    value: T,
    before: Option<(u64, T)>,
}

impl<T: Clone> Timeline<T> {
    /// A value that nothing has changed yet.
    pub fn new(value: T) -> Self {
        Timeline { value, before: None }
    }

    /// The value.
    pub fn get(&self) -> &T {
        &self.value
    }

    /// Changes the value during the write `epoch`.
    pub fn set(&mut self, value: T, epoch: u64) {
        let old = std::mem::replace(&mut self.value, value);
        if self.before.as_ref().is_none_or(|(changed_in, _)| *changed_in != epoch) {
            self.before = Some((epoch, old));
        }
    }

    /// The write that has changed the value last.
    pub fn changed_in(&self) -> Option<u64> {
        self.before.as_ref().map(|(epoch, _)| *epoch)
    }

    /// Undoes what the write `epoch` changed.
    pub fn revert(&mut self, epoch: u64) {
        if let Some((changed_in, before)) = self.before.take()
            && changed_in == epoch
        {
            self.value = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_back_to_the_last_commit_only() {
        let mut value = Timeline::new(1);
        value.set(2, 1);
        value.set(3, 2);
        value.set(4, 2);
        value.revert(2);
        assert_eq!(*value.get(), 2);
        value.revert(2);
        assert_eq!(*value.get(), 2);
    }
}
