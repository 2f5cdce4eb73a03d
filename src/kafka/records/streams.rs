//! The values that only streams groups write (KIP-1071; schemas: `common/message/StreamsGroup*Value.json` of 4.1.1 and
//! 4.3.1, generated classes of 4.4.0). What a version adds is a tagged field, left out at its default.

use super::decode::{Decoded, array, int16, int32, no_tags, nullable_string, string, tag, tags};
use super::encode::{
    count, put_array, put_int16_array, put_int32_array, put_int32_array_tag, put_no_tags, put_strings, put_tag_head,
};
use crate::kafka::JString;
use crate::kafka::wire::{Reader, Sink};

/// `StreamsGroupMetadataValue`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMetadata {
    /// The group epoch.
    pub epoch: i32,
    /// The metadata hash: always written, unlike a consumer group's.
    pub metadata_hash: i64,
    /// From 4.3 on, the epoch of the topology whose topics were found to be there and right; else -1, which is left out.
    pub validated_topology_epoch: i32,
    /// From 4.3 on, the configuration that the last assignment followed, in order.
    pub last_assignment_configs: Vec<KeyValue>,
    /// From 4.4 on, the topology epoch whose description the broker's plugin holds; else -1, which is left out.
    pub stored_description_topology_epoch: i32,
    /// From 4.4 on, the topology epoch whose description the plugin refused; else -1, which is left out.
    pub failed_description_topology_epoch: i32,
}

/// What an epoch that is left out stands for.
const NO_EPOCH: i32 = -1;

impl GroupMetadata {
    pub(super) fn write(&self, out: &mut impl Sink) {
        out.put_i32(self.epoch);
        out.put_i64(self.metadata_hash);
        let epochs = [
            (0, self.validated_topology_epoch),
            (2, self.stored_description_topology_epoch),
            (3, self.failed_description_topology_epoch),
        ];
        let configs = &self.last_assignment_configs;
        let written = epochs.iter().filter(|(_, epoch)| *epoch != NO_EPOCH).count() + usize::from(!configs.is_empty());
        out.put_unsigned_varint(written as u64);
        for (tag, epoch) in epochs {
            if epoch != NO_EPOCH {
                put_tag_head(out, tag, size_of::<i32>());
                out.put_i32(epoch);
            }
            if tag == 0 && !configs.is_empty() {
                put_tag_head(out, 1, count(|out| put_array(out, configs, KeyValue::write)));
                put_array(out, configs, KeyValue::write);
            }
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let mut group = GroupMetadata {
            epoch: reader.i32()?,
            metadata_hash: reader.i64()?,
            validated_topology_epoch: NO_EPOCH,
            last_assignment_configs: Vec::new(),
            stored_description_topology_epoch: NO_EPOCH,
            failed_description_topology_epoch: NO_EPOCH,
        };
        tags(reader, |tag, reader| {
            match tag {
                0 => group.validated_topology_epoch = reader.i32()?,
                1 => group.last_assignment_configs = array(reader, KeyValue::read)?,
                2 => group.stored_description_topology_epoch = reader.i32()?,
                3 => group.failed_description_topology_epoch = reader.i32()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(group)
    }
}

/// A key and a value: `LastAssignmentConfig`, `KeyValue` (of client tags), `TopicConfig`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyValue {
    /// The key.
    pub key: JString,
    /// The value.
    pub value: JString,
}

impl KeyValue {
    fn write(&self, out: &mut impl Sink) {
        out.put_compact_str(&self.key);
        out.put_compact_str(&self.value);
        put_no_tags(out);
    }

    fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let pair = KeyValue { key: string(reader)?, value: string(reader)? };
        no_tags(reader)?;
        Ok(pair)
    }
}

/// `StreamsGroupMemberMetadataValue`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberMetadata {
    /// `group.instance.id`.
    pub instance_id: Option<JString>,
    /// `client.rack`.
    pub rack_id: Option<JString>,
    /// `client.id`.
    pub client_id: JString,
    /// The host, as Java's `InetAddress` shows it.
    pub client_host: JString,
    /// `max.poll.interval.ms`.
    pub rebalance_timeout_ms: i32,
    /// The epoch of the member's topology.
    pub topology_epoch: i32,
    /// The process that the member is a thread of.
    pub process_id: JString,
    /// `application.server`.
    pub user_endpoint: Option<Endpoint>,
    /// The client tags, in order.
    pub client_tags: Vec<KeyValue>,
}

impl MemberMetadata {
    pub(super) fn write(&self, out: &mut impl Sink) {
        out.put_compact_nullable_str(self.instance_id.as_deref());
        out.put_compact_nullable_str(self.rack_id.as_deref());
        out.put_compact_str(&self.client_id);
        out.put_compact_str(&self.client_host);
        out.put_i32(self.rebalance_timeout_ms);
        out.put_i32(self.topology_epoch);
        out.put_compact_str(&self.process_id);
        out.put_presence(self.user_endpoint.is_some());
        if let Some(endpoint) = &self.user_endpoint {
            endpoint.write(out);
        }
        put_array(out, &self.client_tags, KeyValue::write);
        put_no_tags(out);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let member = MemberMetadata {
            instance_id: nullable_string(reader)?,
            rack_id: nullable_string(reader)?,
            client_id: string(reader)?,
            client_host: string(reader)?,
            rebalance_timeout_ms: reader.i32()?,
            topology_epoch: reader.i32()?,
            process_id: string(reader)?,
            user_endpoint: if reader.presence()? { Some(Endpoint::read(reader)?) } else { None },
            client_tags: array(reader, KeyValue::read)?,
        };
        no_tags(reader)?;
        Ok(member)
    }
}

/// `StreamsGroupMemberMetadataValue.Endpoint`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The host.
    pub host: JString,
    /// The port.
    pub port: u16,
}

impl Endpoint {
    fn write(&self, out: &mut impl Sink) {
        out.put_compact_str(&self.host);
        out.put_u16(self.port);
        put_no_tags(out);
    }

    fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let endpoint = Endpoint { host: string(reader)?, port: reader.u16()? };
        no_tags(reader)?;
        Ok(endpoint)
    }
}

/// Some tasks of a subtopology.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskIds {
    /// The subtopology.
    pub subtopology_id: JString,
    /// The partitions.
    pub partitions: Vec<i32>,
    /// Only in type 22 from 4.3 on (a tagged field), for active tasks: the epoch at which each partition was assigned.
    pub assignment_epochs: Option<Vec<i32>>,
}

impl TaskIds {
    /// The form that has no assignment epochs: type 21.
    fn write(&self, out: &mut impl Sink) {
        out.put_compact_str(&self.subtopology_id);
        put_int32_array(out, &self.partitions);
        put_no_tags(out);
    }

    fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let (subtopology_id, partitions) = (string(reader)?, array(reader, int32)?);
        no_tags(reader)?;
        Ok(TaskIds { subtopology_id, partitions, assignment_epochs: None })
    }

    fn write_with_epochs(&self, out: &mut impl Sink) {
        out.put_compact_str(&self.subtopology_id);
        put_int32_array(out, &self.partitions);
        put_int32_array_tag(out, self.assignment_epochs.as_deref());
    }

    fn read_with_epochs(reader: &mut Reader<'_>) -> Decoded<Self> {
        Ok(TaskIds {
            subtopology_id: string(reader)?,
            partitions: array(reader, int32)?,
            assignment_epochs: tag(reader, |reader| array(reader, int32))?,
        })
    }
}

/// `StreamsGroupTargetAssignmentMemberValue`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TargetAssignmentMember {
    /// The active tasks.
    pub active_tasks: Vec<TaskIds>,
    /// The standby tasks.
    pub standby_tasks: Vec<TaskIds>,
    /// The warm-up tasks.
    pub warmup_tasks: Vec<TaskIds>,
}

impl TargetAssignmentMember {
    pub(super) fn write(&self, out: &mut impl Sink) {
        for tasks in [&self.active_tasks, &self.standby_tasks, &self.warmup_tasks] {
            put_array(out, tasks, TaskIds::write);
        }
        put_no_tags(out);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let target = TargetAssignmentMember {
            active_tasks: array(reader, TaskIds::read)?,
            standby_tasks: array(reader, TaskIds::read)?,
            warmup_tasks: array(reader, TaskIds::read)?,
        };
        no_tags(reader)?;
        Ok(target)
    }
}

/// `StreamsGroupCurrentMemberAssignmentValue`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentMemberAssignment {
    /// The member's epoch.
    pub member_epoch: i32,
    /// The one before.
    pub previous_member_epoch: i32,
    /// `streams.MemberState`: 0 stable, 1 unrevoked tasks, 2 unreleased tasks.
    pub state: i8,
    /// The active tasks that the member owns.
    pub active_tasks: Vec<TaskIds>,
    /// The standby tasks that it owns.
    pub standby_tasks: Vec<TaskIds>,
    /// The warm-up tasks that it owns.
    pub warmup_tasks: Vec<TaskIds>,
    /// The active tasks that it must give up.
    pub active_tasks_pending_revocation: Vec<TaskIds>,
    /// The standby tasks that it must give up.
    pub standby_tasks_pending_revocation: Vec<TaskIds>,
    /// The warm-up tasks that it must give up.
    pub warmup_tasks_pending_revocation: Vec<TaskIds>,
}

impl CurrentMemberAssignment {
    pub(super) fn write(&self, out: &mut impl Sink) {
        out.put_i32(self.member_epoch);
        out.put_i32(self.previous_member_epoch);
        out.put_i8(self.state);
        for tasks in [
            &self.active_tasks,
            &self.standby_tasks,
            &self.warmup_tasks,
            &self.active_tasks_pending_revocation,
            &self.standby_tasks_pending_revocation,
            &self.warmup_tasks_pending_revocation,
        ] {
            put_array(out, tasks, TaskIds::write_with_epochs);
        }
        put_no_tags(out);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let current = CurrentMemberAssignment {
            member_epoch: reader.i32()?,
            previous_member_epoch: reader.i32()?,
            state: reader.i8()?,
            active_tasks: array(reader, TaskIds::read_with_epochs)?,
            standby_tasks: array(reader, TaskIds::read_with_epochs)?,
            warmup_tasks: array(reader, TaskIds::read_with_epochs)?,
            active_tasks_pending_revocation: array(reader, TaskIds::read_with_epochs)?,
            standby_tasks_pending_revocation: array(reader, TaskIds::read_with_epochs)?,
            warmup_tasks_pending_revocation: array(reader, TaskIds::read_with_epochs)?,
        };
        no_tags(reader)?;
        Ok(current)
    }
}

/// `StreamsGroupTopologyValue`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    /// The epoch of the topology.
    pub epoch: i32,
    /// Its parts.
    pub subtopologies: Vec<Subtopology>,
}

impl Topology {
    pub(super) fn write(&self, out: &mut impl Sink) {
        out.put_i32(self.epoch);
        put_array(out, &self.subtopologies, Subtopology::write);
        put_no_tags(out);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let topology = Topology { epoch: reader.i32()?, subtopologies: array(reader, Subtopology::read)? };
        no_tags(reader)?;
        Ok(topology)
    }
}

/// `StreamsGroupTopologyValue.Subtopology`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subtopology {
    /// Its name.
    pub subtopology_id: JString,
    /// The topics that it reads.
    pub source_topics: Vec<JString>,
    /// Regular expressions for topics that it reads.
    pub source_topic_regex: Vec<JString>,
    /// The changelogs of its stores.
    pub state_changelog_topics: Vec<TopicInfo>,
    /// The repartition topics that it writes.
    pub repartition_sink_topics: Vec<JString>,
    /// The repartition topics that it reads.
    pub repartition_source_topics: Vec<TopicInfo>,
    /// Which of the topics that it reads need equally many partitions.
    pub copartition_groups: Vec<CopartitionGroup>,
}

impl Subtopology {
    fn write(&self, out: &mut impl Sink) {
        out.put_compact_str(&self.subtopology_id);
        put_strings(out, &self.source_topics);
        put_strings(out, &self.source_topic_regex);
        put_array(out, &self.state_changelog_topics, TopicInfo::write);
        put_strings(out, &self.repartition_sink_topics);
        put_array(out, &self.repartition_source_topics, TopicInfo::write);
        put_array(out, &self.copartition_groups, CopartitionGroup::write);
        put_no_tags(out);
    }

    fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let subtopology = Subtopology {
            subtopology_id: string(reader)?,
            source_topics: array(reader, string)?,
            source_topic_regex: array(reader, string)?,
            state_changelog_topics: array(reader, TopicInfo::read)?,
            repartition_sink_topics: array(reader, string)?,
            repartition_source_topics: array(reader, TopicInfo::read)?,
            copartition_groups: array(reader, CopartitionGroup::read)?,
        };
        no_tags(reader)?;
        Ok(subtopology)
    }
}

/// `StreamsGroupTopologyValue.TopicInfo`: an internal topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicInfo {
    /// Its name.
    pub name: JString,
    /// How many partitions it shall have; 0 if that follows from other topics.
    pub partitions: i32,
    /// How many replicas each; 0 for the broker's default.
    pub replication_factor: i16,
    /// Its configuration, in order.
    pub topic_configs: Vec<KeyValue>,
}

impl TopicInfo {
    fn write(&self, out: &mut impl Sink) {
        out.put_compact_str(&self.name);
        out.put_i32(self.partitions);
        out.put_i16(self.replication_factor);
        put_array(out, &self.topic_configs, KeyValue::write);
        put_no_tags(out);
    }

    fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let topic = TopicInfo {
            name: string(reader)?,
            partitions: reader.i32()?,
            replication_factor: reader.i16()?,
            topic_configs: array(reader, KeyValue::read)?,
        };
        no_tags(reader)?;
        Ok(topic)
    }
}

/// `StreamsGroupTopologyValue.CopartitionGroup`: indexes into the lists of the [`Subtopology`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopartitionGroup {
    /// Into `source_topics`.
    pub source_topics: Vec<i16>,
    /// Into `source_topic_regex`.
    pub source_topic_regex: Vec<i16>,
    /// Into `repartition_source_topics`.
    pub repartition_source_topics: Vec<i16>,
}

impl CopartitionGroup {
    fn write(&self, out: &mut impl Sink) {
        for indexes in [&self.source_topics, &self.source_topic_regex, &self.repartition_source_topics] {
            put_int16_array(out, indexes);
        }
        put_no_tags(out);
    }

    fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let group = CopartitionGroup {
            source_topics: array(reader, int16)?,
            source_topic_regex: array(reader, int16)?,
            repartition_source_topics: array(reader, int16)?,
        };
        no_tags(reader)?;
        Ok(group)
    }
}
