//! The history of the imported images, and how each topic's hash changes in it.

use super::{ImportError, ImportedCluster};
use crate::cluster::{History, HistoryBuilder, ImageNumber, TopicIndex};
use crate::kafka::{JString, Uuid};
use std::io;

impl ImportedCluster {
    /// A history with these images: number *n* is `images[n - 1]`. Time 0 is that of the first image; where the log's
    /// times go back, the time stands still.
    pub fn history(&self) -> Result<HistoryBuilder, Vec<ImportError>> {
        let mut builder = HistoryBuilder::new();
        let mut errors = Vec::new();
        let start_ms = self.images.first().map_or(0, |image| image.unix_ms);
        for image in &self.images {
            let time_ms = image.unix_ms.saturating_sub(start_ms).max(builder.last_time_ms());
            if let Err(wrong) = builder.publish(time_ms, image.event, &image.changes) {
                errors.extend(wrong.into_iter().map(|error| ImportError::Image { offset: image.offset, error }));
            }
        }
        if errors.is_empty() { Ok(builder) } else { Err(errors) }
    }
}

/// A change of a topic's fresh hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicHashRow {
    /// The last offset of the image that brought it.
    pub offset: i64,
    /// The image's time (Unix time in ms).
    pub unix_ms: i64,
    /// The topic.
    pub topic: JString,
    /// Its id; of a deleted topic, the one it had.
    pub topic_id: Uuid,
    /// How many partitions it has; of a deleted topic, how many it had.
    pub partitions: i32,
    /// The hash from there on (`Utils.computeTopicHash` of Kafka 4.1 and later); `None` where the topic is deleted.
    pub hash: Option<i64>,
}

/// A row whenever a topic's fresh hash changes, by a record of its own or by a broker's registration; in order of
/// offsets, then of names as Java orders them.
pub fn topic_hash_rows(cluster: &ImportedCluster) -> Result<Vec<TopicHashRow>, Vec<ImportError>> {
    let history = cluster.history()?.finish();
    let mut rows = Vec::new();
    for (number, image) in (1..).zip(&cluster.images) {
        let mut changed = history.image(number).hash_changed.clone();
        changed.sort_by_key(|topic| history.topic_name(*topic));
        rows.extend(changed.into_iter().filter_map(|topic| row(&history, number, topic, image.offset, image.unix_ms)));
    }
    Ok(rows)
}

fn row(history: &History, number: ImageNumber, topic: TopicIndex, offset: i64, unix_ms: i64) -> Option<TopicHashRow> {
    let now = history.version_at(topic, number);
    let version = now.or_else(|| history.version_at(topic, number - 1))?;
    Some(TopicHashRow {
        offset,
        unix_ms,
        topic: version.name.clone(),
        topic_id: version.id,
        partitions: version.num_partitions(),
        hash: now.map(|version| version.hash),
    })
}

/// Writes rows as CSV: `offset,unix_ms,topic,topic_id,partitions,hash`.
pub fn write_topic_hash_rows(rows: &[TopicHashRow], out: impl io::Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["offset", "unix_ms", "topic", "topic_id", "partitions", "hash"])?;
    for row in rows {
        csv.write_record([
            row.offset.to_string().as_str(),
            &row.unix_ms.to_string(),
            &row.topic,
            &row.topic_id.to_string(),
            &row.partitions.to_string(),
            &row.hash.map_or_else(String::new, |hash| hash.to_string()),
        ])?;
    }
    csv.flush()
}
