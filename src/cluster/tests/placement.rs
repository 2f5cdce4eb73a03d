//! Placements that Kafka's `StripedReplicaPlacer` made with `new Random(seed)`: 4.3.1 and 3.9.1 gave the same.

use crate::cluster::placement::{PlacementError, UsableBroker, place};

/// `java.util.Random`.
struct JavaRandom(u64);

impl JavaRandom {
    fn new(seed: i64) -> Self {
        JavaRandom((seed as u64 ^ 0x5DEECE66D) & ((1 << 48) - 1))
    }

    fn next_31(&mut self) -> i32 {
        self.0 = (self.0.wrapping_mul(0x5DEECE66D) + 0xB) & ((1 << 48) - 1);
        (self.0 >> 17) as i32
    }

    fn next_int(&mut self, bound: i32) -> i32 {
        if bound & -bound == bound {
            return ((i64::from(bound) * i64::from(self.next_31())) >> 31) as i32;
        }
        loop {
            let bits = self.next_31();
            let value = bits % bound;
            if bits.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
                return value;
            }
        }
    }
}

/// A broker as `id` (`f` behind it: fenced), then `:rack` if it has one.
fn broker(text: &str) -> UsableBroker<'_> {
    let (id, rack) = text.split_once(':').map_or((text, None), |(id, rack)| (id, Some(rack)));
    UsableBroker { id: id.trim_end_matches('f').parse().expect("an id"), rack, fenced: id.ends_with('f') }
}

fn placed(
    seed: i64,
    partitions: usize,
    replication_factor: i32,
    brokers: &str,
) -> Result<Vec<Vec<i32>>, PlacementError> {
    let brokers: Vec<_> = brokers.split(' ').map(broker).collect();
    let mut random = JavaRandom::new(seed);
    place(partitions, replication_factor, &brokers, &mut |bound| random.next_int(bound))
}

/// Places as many partitions as are expected, each a list of brokers.
fn check(seed: i64, replication_factor: i32, brokers: &str, expected: &str) {
    let placed = placed(seed, expected.split(' ').count(), replication_factor, brokers).expect("a placement");
    let text = |replicas: &Vec<i32>| replicas.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
    assert_eq!(placed.iter().map(text).collect::<Vec<_>>().join(" "), expected);
}

#[test]
fn one_replica_a_rack_then_round_again() {
    check(1, 3, "0:a 1:b 2:c", "0,1,2 1,2,0 2,0,1 1,0,2 0,2,1 2,1,0 1,0,2 0,2,1");
    check(3, 2, "0:a 1:a 2:b 3:b 4:c 5:c", "3,4 5,0 1,2 3,4 5,0 1,2 3,0 1,5 4,2");
    check(5, 4, "1:a 2:a 3:a 4:b", "3,4,1,2 4,1,2,3 2,4,3,1 4,3,1,2 3,4,2,1 4,2,1,3");
}

#[test]
fn without_racks() {
    check(2, 3, "0 1 2 3", "2,3,0 3,0,1 0,1,2 1,2,3 1,3,2 3,2,0 2,0,1 0,1,3");
}

#[test]
fn fenced_brokers_come_last_and_never_lead() {
    check(4, 3, "0:a 1f:a 2:b 3f:c 4:b", "0,4,3 2,3,0 0,3,4 4,3,0 2,0,3 0,3,4 4,0,3");
    check(9, 3, "0f:a 1f:b 2:c 3:c", "3,1,0 2,0,1 3,0,1 2,1,0");
}

#[test]
fn a_single_unfenced_broker_is_never_shuffled() {
    check(6, 2, "1 2f 3f", "1,3 1,2 1,3 1,2 1,3");
    check(7, 1, "1:a 2f:b", "1 1 1 1 1 1");
}

/// No rack, `""`, UTF-16 units.
#[test]
fn racks_in_javas_order() {
    check(8, 2, "10:zone-b 11:zone-a 12 13:", "12,13 13,11 11,10 10,12 13,11 11,10");
    check(10, 2, "0:😀 1:～ 2:é", "2,0 0,1 1,2 2,1 1,2 0,2");
}

/// With 13 racks and more the order of the draws is that of a larger `HashMap`.
#[test]
fn more_racks_than_a_small_hash_map_holds() {
    check(
        116605399081501172,
        3,
        "0f:r340042 1:r82002 2:r289 3:r326987 4 5 6f:r340042 7 8:r340042 9:r59 10 11 12:r26141 13:r99 \
         14:r171157 15:r30208 16:r464 17:r381947 18f 19:r30208 20:r340042 21:r251604 22f:r15 23:r171157 \
         24:r15 25:r251604 26:r381947 27:r99 28 29f:r15",
        "28,24,23 24,14,21 23,25,12 21,12,2 12,2,15 2,19,3 15,3,20 3,8,26 20,17,16",
    );
    check(
        756407660661490655,
        4,
        "0:r0 1:r10 2:r8 3:r6413 4:r26788 5:r50 6f:r949 7f:r0 8:r356471 9:r98 10:r13 11 12f:r949 \
         13f:r6413 14:r237 15 16f:r8231 17f:r60984 18:r93849 19:r2 20:r8 21f:r237 22:r237 23:r80487 \
         24:r50 25:r192 26:r931 27:r9 28f:r12 29f:r9 30:r93849 31:r2 32:r7690 33:r98",
        "3,17,32,2 3,32,20,23 32,2,23,16",
    );
}

#[test]
fn errors() {
    assert_eq!(placed(1, 2, 0, "0:a"), Err(PlacementError::NotPositive(0)));
    assert_eq!(placed(1, 2, 1, "0f:a 1f:b"), Err(PlacementError::NoUnfencedBroker));
    let too_few = PlacementError::TooFewBrokers { replication_factor: 3, brokers: 2 };
    assert_eq!(placed(1, 2, 3, "0:a 1:b"), Err(too_few));
    assert_eq!(too_few.to_string(), "replication factor 3 needs as many brokers, but there are 2");
    assert_eq!(placed(1, 0, 1, "0:a"), Ok(vec![]));
}
