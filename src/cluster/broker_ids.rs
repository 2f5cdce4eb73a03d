//! Short lists of brokers: the replicas of a partition, and which of them are in sync.

use std::fmt;
use std::ops::Deref;

/// How many brokers stand in the list itself; three replicas, and a fourth while one moves, need no memory elsewhere.
const FEW: usize = 4;

/// A list of broker ids.
#[derive(Clone)]
pub struct BrokerIds(Ids);

#[derive(Clone)]
enum Ids {
    Few(u8, [i32; FEW]),
    Many(Box<[i32]>),
}

impl Deref for BrokerIds {
    type Target = [i32];
    fn deref(&self) -> &[i32] {
        match &self.0 {
            Ids::Few(len, ids) => &ids[..usize::from(*len)],
            Ids::Many(ids) => ids,
        }
    }
}

impl From<&[i32]> for BrokerIds {
    fn from(list: &[i32]) -> Self {
        if list.len() > FEW {
            return BrokerIds(Ids::Many(list.into()));
        }
        let mut ids = [0; FEW];
        ids[..list.len()].copy_from_slice(list);
        BrokerIds(Ids::Few(list.len() as u8, ids))
    }
}

impl From<Vec<i32>> for BrokerIds {
    fn from(list: Vec<i32>) -> Self {
        list.as_slice().into()
    }
}

impl FromIterator<i32> for BrokerIds {
    fn from_iter<I: IntoIterator<Item = i32>>(list: I) -> Self {
        let (mut ids, mut len) = ([0; FEW], 0);
        let mut list = list.into_iter();
        while let Some(id) = list.next() {
            if len == FEW {
                return ids.into_iter().chain([id]).chain(list).collect::<Vec<i32>>().into();
            }
            ids[len] = id;
            len += 1;
        }
        BrokerIds(Ids::Few(len as u8, ids))
    }
}

impl PartialEq for BrokerIds {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for BrokerIds {}

impl fmt::Debug for BrokerIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_any_length() {
        for list in [vec![], vec![7], vec![1, 2, 3, 4], vec![1, 2, 3, 4, 5], vec![6, 5, 4, 3, 2, 1]] {
            let collected: BrokerIds = list.iter().copied().collect();
            assert_eq!((&*BrokerIds::from(list.clone()), &*collected), (&list[..], &list[..]));
            assert_eq!(format!("{collected:?}"), format!("{list:?}"));
        }
        assert_ne!(BrokerIds::from(vec![1, 2]), BrokerIds::from(vec![1, 2, 0]));
        assert_eq!(size_of::<BrokerIds>(), 24);
    }
}
