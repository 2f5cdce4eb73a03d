//! Tests, on the files of real clusters (`lab`) and on logs made up here (`made`).

mod lab;
mod made;
mod records;
mod wrong;

use super::*;
use crate::kafka::batch::{Attributes, BatchHeader, BatchRecord, encode_raw};
use std::path::Path;

/// A file of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The log of a cluster of the lab, and its snapshot: from 4.3.1, 3.9.1, and 4.0.0 upgraded to 4.3.1.
const LAB: [(&str, &str); 3] = [
    ("scenarios/lab-cluster", "00000000000000003794-0000000001.checkpoint"),
    ("tests/golden/lab/3.9.1", "00000000000000001088-0000000001.checkpoint"),
    ("tests/golden/lab/from-4.0.0", "00000000000000000715-0000000002.checkpoint"),
];

fn lab_log(folder: &str) -> PathBuf {
    repository(folder).join("00000000000000000000.log")
}

/// The time of the first offset of a made-up log; every offset is a millisecond later than the one before.
const START_MS: i64 = 1_700_000_000_000;

/// A batch of the metadata log.
fn batch(base_offset: i64, values: &[Vec<u8>]) -> Vec<u8> {
    let header = BatchHeader {
        base_offset,
        leader_epoch: 1,
        attributes: Attributes::default(),
        last_offset_delta: values.len() as i32 - 1,
        base_timestamp_ms: START_MS + base_offset,
        max_timestamp_ms: START_MS + base_offset + values.len() as i64 - 1,
        producer_id: -1,
        producer_epoch: -1,
        base_sequence: -1,
    };
    let record = |(delta, value): (i32, &'_ Vec<u8>)| (delta, value.clone());
    let values: Vec<_> = (0..).zip(values).map(record).collect();
    let records: Vec<_> = values
        .iter()
        .map(|(delta, value)| BatchRecord {
            offset_delta: *delta,
            timestamp_delta_ms: i64::from(*delta),
            key: None,
            value: Some(value),
            headers: Vec::new(),
        })
        .collect();
    encode_raw(&header, &records)
}

/// Batches of one log, from offset 0 on.
fn log(batches: &[Vec<Vec<u8>>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut offset = 0;
    for values in batches {
        bytes.extend(batch(offset, values));
        offset += values.len() as i64;
    }
    bytes
}

/// Reads made-up files, named as given.
fn read_bytes(files: &[(&str, Vec<u8>)]) -> Result<ImportedCluster, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        paths.push(path);
    }
    let prefix = format!("{}/", folder.path().display());
    read(&paths).map_err(|errors| errors.iter().map(|error| error.to_string().replace(&prefix, "")).collect())
}

/// Metadata records as bytes.
mod bytes {
    use crate::kafka::Uuid;

    fn record(api_key: u8, fields: &[&[u8]]) -> Vec<u8> {
        let mut bytes = vec![1, api_key, 0];
        fields.iter().for_each(|field| bytes.extend_from_slice(field));
        bytes.push(0);
        bytes
    }

    fn text(text: &str) -> Vec<u8> {
        let mut bytes = vec![text.len() as u8 + 1];
        bytes.extend_from_slice(text.as_bytes());
        bytes
    }

    fn brokers(ids: &[i32]) -> Vec<u8> {
        let mut bytes = vec![ids.len() as u8 + 1];
        ids.iter().for_each(|id| bytes.extend_from_slice(&id.to_be_bytes()));
        bytes
    }

    /// The id that a number stands for.
    pub fn id(number: u128) -> Uuid {
        Uuid(number)
    }

    /// A fenced broker; its epoch is its id.
    pub fn register(broker: i32, rack: Option<&str>) -> Vec<u8> {
        let rack = rack.map_or(vec![0], text);
        let (id, epoch) = (broker.to_be_bytes(), i64::from(broker).to_be_bytes());
        record(0, &[&id, &[7; 16], &epoch, &[1], &[1], &rack, &[1]])
    }

    pub fn unregister(broker: i32) -> Vec<u8> {
        record(1, &[&broker.to_be_bytes(), &i64::from(broker).to_be_bytes()])
    }

    pub fn unfence(broker: i32, epoch: i64) -> Vec<u8> {
        record(8, &[&broker.to_be_bytes(), &epoch.to_be_bytes()])
    }

    pub fn topic(name: &str, number: u128) -> Vec<u8> {
        record(2, &[&text(name), &id(number).to_bytes()])
    }

    pub fn partition(number: u128, partition: i32, replicas: &[i32], isr: &[i32], leader: i32) -> Vec<u8> {
        let (partition, id, leader) = (partition.to_be_bytes(), id(number).to_bytes(), leader.to_be_bytes());
        record(3, &[&partition, &id, &brokers(replicas), &brokers(isr), &[1], &[1], &leader, &[0; 4], &[0; 4]])
    }

    /// A partition change with these tagged fields, in their version of the schema.
    pub fn change(version: u8, number: u128, partition: i32, tagged: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = vec![1, 5, version];
        bytes.extend_from_slice(&partition.to_be_bytes());
        bytes.extend_from_slice(&id(number).to_bytes());
        bytes.push(tagged.len() as u8);
        for (tag, value) in tagged {
            bytes.extend_from_slice(&[*tag, value.len() as u8]);
            bytes.extend_from_slice(value);
        }
        bytes
    }

    /// The tagged fields of a partition change.
    pub fn isr(ids: &[i32]) -> (u8, Vec<u8>) {
        (0, brokers(ids))
    }

    pub fn leader(id: i32) -> (u8, Vec<u8>) {
        (1, id.to_be_bytes().to_vec())
    }

    pub fn replicas(ids: &[i32]) -> (u8, Vec<u8>) {
        (2, brokers(ids))
    }

    pub fn elr(ids: &[i32]) -> (u8, Vec<u8>) {
        (6, brokers(ids))
    }

    pub fn remove(number: u128) -> Vec<u8> {
        record(9, &[&id(number).to_bytes()])
    }

    pub fn clear_elr(name: &str) -> Vec<u8> {
        record(28, &[&text(name)])
    }

    pub fn feature(name: &str, level: i16) -> Vec<u8> {
        record(12, &[&text(name), &level.to_be_bytes()])
    }

    pub fn no_op() -> Vec<u8> {
        record(20, &[])
    }

    pub fn begin() -> Vec<u8> {
        record(23, &[])
    }

    pub fn end() -> Vec<u8> {
        record(24, &[])
    }

    pub fn abort() -> Vec<u8> {
        record(25, &[])
    }
}
