//! Where the coordinator of a shard lives: the broker that leads its `__consumer_offsets` partition, and when a new
//! incarnation begins there.

use crate::cluster::{History, ImageNumber};

/// From an image on a shard is coordinated by a new incarnation on that broker, or by none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// The image.
    pub image: ImageNumber,
    /// The broker.
    pub broker: Option<i32>,
}

/// All moves of a shard, in order: whenever its partition has another leader, or its leader registers anew (its
/// process has been restarted).
pub fn moves(history: &History, shard: i32) -> Vec<Move> {
    let none: &[(ImageNumber, i32)] = &[];
    let leaders = usize::try_from(shard).ok().and_then(|shard| history.leaders().get(shard));
    let leaders = leaders.map_or(none, Vec::as_slice);
    let mut moves: Vec<Move> = Vec::new();
    for (position, &(from, leader)) in leaders.iter().enumerate() {
        let broker = (leader >= 0).then_some(leader);
        if moves.last().and_then(|last| last.broker) != broker {
            moves.push(Move { image: from, broker });
        }
        let Some(broker) = broker else { continue };
        let until = leaders.get(position + 1).map_or(history.last_image() + 1, |(next, _)| *next);
        let restarts = (from + 1..until).filter(|&image| history.image(image).registered.contains(&broker));
        moves.extend(restarts.map(|image| Move { image, broker: Some(broker) }));
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Change, HistoryBuilder};
    use crate::kafka::Uuid;

    #[test]
    fn a_shard_moves_with_its_leader_and_starts_anew_with_its_broker() {
        let mut builder = HistoryBuilder::new();
        let register = |id| Change::RegisterBroker { id, rack: None };
        let leader = |partition, leader| Change::ChangePartition {
            topic: "__consumer_offsets".to_owned(),
            partition,
            replicas: None,
            isr: None,
            leader: Some(leader),
            elr: None,
        };
        let topic = Change::CreateTopic {
            name: "__consumer_offsets".to_owned(),
            id: Uuid(7),
            replicas: vec![vec![1, 2], vec![2, 1]],
        };
        let images = [
            vec![register(1), register(2)],
            vec![topic],
            vec![leader(0, 1)],
            vec![leader(0, 2)],
            vec![register(1)],
            vec![register(2)],
            vec![leader(0, -1)],
            vec![leader(0, 2), leader(1, 1)],
        ];
        for (time_ms, changes) in (0..).zip(&images) {
            builder.publish(time_ms, "x", changes).expect("right changes");
        }
        let history = builder.finish();
        let of = |shard| moves(&history, shard).iter().map(|m| (m.image, m.broker)).collect::<Vec<_>>();
        assert_eq!(of(0), [(2, Some(1)), (4, Some(2)), (6, Some(2)), (7, None), (8, Some(2))]);
        assert_eq!(of(1), [(2, Some(2)), (6, Some(2)), (8, Some(1))]);
        assert_eq!(of(2), []);
    }
}
