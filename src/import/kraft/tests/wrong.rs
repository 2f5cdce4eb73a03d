//! Input that is wrong: the errors say where and what, and nothing panics.

use super::bytes::*;
use super::*;
use crate::kafka::batch::decode_batches;

fn errors(files: &[(&str, Vec<u8>)]) -> Vec<String> {
    read_bytes(files).unwrap_err()
}

fn log_errors(batches: &[Vec<Vec<u8>>]) -> Vec<String> {
    errors(&[("0.log", log(batches))])
}

fn one(name: &str, number: u128) -> Vec<Vec<u8>> {
    vec![topic(name, number), partition(number, 0, &[1, 2], &[1, 2], 1)]
}

#[test]
fn files() {
    assert_eq!(
        errors(&[("a.txt", Vec::new()), ("12-3.checkpoint", Vec::new())]),
        [
            "a.txt: a segment (*.log) or a snapshot (OFFSET-EPOCH.checkpoint, 20 and 10 digits) is expected",
            "12-3.checkpoint: a segment (*.log) or a snapshot (OFFSET-EPOCH.checkpoint, 20 and 10 digits) is expected",
        ]
    );
    let nothing = ["no metadata: give the segments (*.log) from offset 0 on, or a snapshot (*.checkpoint)"];
    assert_eq!(errors(&[]), nothing);
    assert_eq!(errors(&[("a.log", Vec::new())]), nothing);
    let missing = read(&[PathBuf::from("no/such.log")]).unwrap_err();
    assert!(missing[0].to_string().starts_with("no/such.log: cannot be read: "), "{}", missing[0]);
}

#[test]
fn gaps() {
    let three = [batch(0, &[no_op()]), batch(1, &[no_op(), no_op()]), batch(3, &[no_op()])];
    assert!(read_bytes(&[("0.log", three.concat())]).is_ok());
    assert_eq!(
        errors(&[("0.log", three[0].clone()), ("3.log", three[2].clone())]),
        ["offsets 1 to 2 are missing before 3.log: give the segment that holds them, or a snapshot (*.checkpoint) of \
          offset 3 or later and no segment from before the gap"]
    );
    let start = errors(&[("1.log", three[1..].concat())]);
    assert!(start[0].starts_with("offsets 0 to 0 are missing before 1.log"), "{start:?}");
}

#[test]
fn different_logs() {
    let other = batch(0, &[feature("a", 1)]);
    let mine = batch(0, &[no_op()]);
    assert_eq!(
        errors(&[("a.log", mine), ("b.log", other)]),
        ["b.log: offset 0, byte 0: another batch than the one of the same offset in a.log"]
    );
}

#[test]
fn cut_snapshot() {
    let (folder, name) = LAB[0];
    let bytes = std::fs::read(repository(folder).join(name)).unwrap();
    let last = decode_batches(&bytes).map(|batch| batch.unwrap().position).last().unwrap();
    let expected = format!("{name}: no whole snapshot: it begins with a header record and ends with a footer record");
    assert_eq!(errors(&[(name, bytes[..last].to_vec())]), [expected]);
}

#[test]
fn records() {
    let error = |record: Vec<u8>| {
        let errors = log_errors(&[one("a", 1), vec![record]]);
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].clone()
    };
    let start = log(&[one("a", 1)]).len() + 61 + 6;
    let at = |byte: usize, message: &str| format!("0.log: offset 2, byte {}: {message}", start + byte);
    assert_eq!(error(vec![]), at(0, "the frame version: 1 bytes expected, 0 left"));
    assert_eq!(error(vec![0, 20, 0, 0]), at(0, "frame version 0; only 1 is known"));
    assert_eq!(error(vec![1, 20]), at(2, "the version: 1 bytes expected, 0 left"));
    assert_eq!(error(vec![1, 20, 0, 0, 9]), at(4, "1 bytes are left after the NO_OP_RECORD"));
    assert_eq!(error(vec![1, 9, 0, 1, 2]), at(3, "topicId: 16 bytes expected, 2 left"));
    assert_eq!(error(vec![1, 12, 0, 0]), at(3, "name is null, which it must not be"));
    assert_eq!(error(vec![1, 12, 0, 9, 1]), at(4, "name of length 8, but only 1 bytes are left"));
    assert_eq!(error(vec![1, 12, 0, 2, 0xff, 0, 1, 0]), at(4, "name is not UTF-8"));
    let short_tag = change(0, 1, 0, &[(1, vec![0, 0, 0, 1, 9])]);
    assert_eq!(error(short_tag), at(3 + 4 + 16 + 1 + 2, "tagged field leader has 4 bytes, but its size says 5"));
    let mut fenced = vec![1, 17, 0];
    fenced.extend([0; 12]);
    fenced.extend([1, 0, 1, 7]);
    assert_eq!(error(fenced), at(0, "fenced is 7; -1, 0 or 1 expected"));
}

/// What would make Kafka's replay throw.
#[test]
fn references() {
    let error = |batch: Vec<Vec<u8>>| {
        let errors = log_errors(&[one("a", 1), batch]);
        errors.iter().map(|error| error.split_once(": ").unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    let of = |error: &str| error.split_once(": ").unwrap().1.to_owned();
    let message = |batch| of(&error(batch)[0]);
    assert_eq!(message(vec![remove(5)]), "topic id AAAAAAAAAAAAAAAAAAAABQ, which no record before gives to a topic");
    assert_eq!(message(one("a", 2)), "topic a exists already, with id AAAAAAAAAAAAAAAAAAAAAQ");
    assert_eq!(message(one("b", 1)), "topic id AAAAAAAAAAAAAAAAAAAAAQ is that of topic a already");
    assert_eq!(message(vec![change(0, 1, 4, &[])]), "topic a has no partition 4, but that one changes");
    assert_eq!(message(vec![partition(1, 2, &[1], &[1], 1)]), "topic a gets partition 2, but has no partition 1");
    assert_eq!(message(vec![unfence(1, 1)]), "broker 1 is changed, but no record before registers it");
    assert_eq!(
        message(vec![register(1, None), unfence(1, 9)]),
        "broker 1 is changed with epoch 9; its registration has 1"
    );
    assert_eq!(message(vec![clear_elr("x")]), "the ELR of topic x is dropped, but there is no such topic");
    assert_eq!(message(vec![end()]), "a transaction ends, but none has begun");
    assert_eq!(message(vec![begin(), begin()]), "a transaction begins within the one that began at offset 2");
    // Every broken thing is told of, and each once.
    let many = error(vec![remove(5), change(0, 5, 0, &[]), change(0, 5, 1, &[]), unfence(1, 1), unfence(1, 1)]);
    assert_eq!(many.len(), 2, "{many:?}");
}

#[test]
fn skipped_records_are_told_with_errors() {
    let mut later = topic("b", 2);
    later[2] = 7;
    let errors = log_errors(&[one("a", 1), vec![later, partition(2, 0, &[1], &[1], 1)]]);
    assert_eq!(errors.len(), 2);
    assert_eq!(
        errors[1],
        "records of a type or version that is not known here were skipped, which may be why: 1 of TOPIC_RECORD v7"
    );
}

/// Numbers without any claim to be random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

/// Reads it and does all that is done with it.
fn exercise(bytes: Vec<u8>) -> bool {
    let Ok(cluster) = read_bytes(&[("0.log", bytes)]) else {
        return false;
    };
    let rows = topic_hash_rows(&cluster);
    rows.is_ok() && to_scenario(&cluster, "x", &[]).is_ok()
}

/// A checksum finds every flipped byte from the attributes on; the rest of the header is checked otherwise, but for the
/// leader's epoch.
#[test]
fn flipped_and_cut_files() {
    let bytes = std::fs::read(lab_log("tests/golden/lab/from-4.0.0")).unwrap();
    let batches: Vec<_> = decode_batches(&bytes).map(|batch| batch.unwrap().position).collect();
    let mut numbers = Numbers(1);
    for _ in 0..100 {
        let mut flipped = bytes.clone();
        let place = numbers.below(bytes.len());
        flipped[place] ^= 1 << numbers.below(8);
        let in_batch = place - batches[batches.partition_point(|start| *start <= place) - 1];
        assert_eq!(exercise(flipped), (12..16).contains(&in_batch), "byte {place}");
        let end = numbers.below(bytes.len());
        assert_eq!(exercise(bytes[..end].to_vec()), end > 0 && batches.contains(&end), "cut at {end}");
    }
}

/// Wrong bytes behind a right checksum.
#[test]
fn flipped_and_cut_records() {
    let bytes = std::fs::read(lab_log("tests/golden/lab/from-4.0.0")).unwrap();
    let mut numbers = Numbers(2);
    let mut accepted = 0;
    for _ in 0..150 {
        let mut out = Vec::new();
        let broken = numbers.below(500);
        for (number, batch) in decode_batches(&bytes).map(Result::unwrap).enumerate() {
            let mut values: Vec<Option<Vec<u8>>> =
                batch.records.iter().map(|record| record.value.map(<[u8]>::to_vec)).collect();
            if number % 500 == broken {
                let which = numbers.below(values.len());
                if let Some(value) = &mut values[which] {
                    let place = numbers.below(value.len());
                    match numbers.below(3) {
                        0 => value.truncate(place),
                        1 => value[place] = numbers.below(256) as u8,
                        _ => value.insert(place, numbers.below(256) as u8),
                    }
                }
            }
            let records: Vec<_> = batch
                .records
                .iter()
                .zip(&values)
                .map(|(record, value)| BatchRecord { value: value.as_deref(), ..record.clone() })
                .collect();
            out.extend(encode_raw(&batch.header, &records));
        }
        accepted += u32::from(exercise(out));
    }
    assert!((1..150).contains(&accepted), "{accepted} of 150 were accepted");
}
