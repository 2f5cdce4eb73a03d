//! The schemas of KRaft's metadata records, as tables: `common/metadata/*.json` of `kafka-metadata` 4.3.1, which
//! holds those of 3.9.1, 4.0.0 and 4.1.1 too (versions were only added), and the one record that 4.4.0 adds.

use super::schema::{Field, Kind, field};

/// The schema of a type of record.
#[derive(Debug)]
pub(super) struct Schema {
    /// The number that the frame names it by.
    pub(super) api_key: u32,
    /// The name in `MetadataRecordType`.
    pub(super) name: &'static str,
    /// The highest version known here; the lowest is 0.
    pub(super) max_version: i16,
    /// Its fields.
    pub(super) fields: &'static [Field],
}

/// The schema of an api key.
pub(super) fn schema(api_key: u32) -> Option<&'static Schema> {
    SCHEMAS.iter().find(|schema| schema.api_key == api_key)
}

const fn record(api_key: u32, name: &'static str, max_version: i16, fields: &'static [Field]) -> Schema {
    Schema { api_key, name, max_version, fields }
}

const BROKERS: Kind = Kind::Array(&Kind::Int32);
const UUIDS: Kind = Kind::Array(&Kind::Uuid);

const END_POINTS: Kind = Kind::Array(&Kind::Struct(&[
    field("name", Kind::String),
    field("host", Kind::String),
    field("port", Kind::Uint16),
    field("securityProtocol", Kind::Int16),
]));

const FEATURES: Kind = Kind::Array(&Kind::Struct(&[
    field("name", Kind::String),
    field("minSupportedVersion", Kind::Int16),
    field("maxSupportedVersion", Kind::Int16),
]));

/// Every type of record, in the order of their api keys (6, 13 and 16 name nothing in 3.9.1 to 4.4.0).
pub(super) const SCHEMAS: &[Schema] = &[
    record(
        0,
        "REGISTER_BROKER_RECORD",
        4,
        &[
            field("brokerId", Kind::Int32),
            field("isMigratingZkBroker", Kind::Bool).since(2),
            field("incarnationId", Kind::Uuid),
            field("brokerEpoch", Kind::Int64),
            field("endPoints", END_POINTS),
            field("features", FEATURES),
            field("rack", Kind::String).nullable(),
            field("fenced", Kind::Bool),
            field("inControlledShutdown", Kind::Bool).since(1),
            field("logDirs", UUIDS).since(3).tag(0),
            field("cordonedLogDirs", UUIDS).since(4).tag(1).nullable(),
        ],
    ),
    record(1, "UNREGISTER_BROKER_RECORD", 0, &[field("brokerId", Kind::Int32), field("brokerEpoch", Kind::Int64)]),
    record(2, "TOPIC_RECORD", 0, &[field("name", Kind::String), field("topicId", Kind::Uuid)]),
    record(
        3,
        "PARTITION_RECORD",
        2,
        &[
            field("partitionId", Kind::Int32),
            field("topicId", Kind::Uuid),
            field("replicas", BROKERS),
            field("isr", BROKERS),
            field("removingReplicas", BROKERS),
            field("addingReplicas", BROKERS),
            field("leader", Kind::Int32),
            field("leaderRecoveryState", Kind::Int8).tag(0),
            field("leaderEpoch", Kind::Int32),
            field("partitionEpoch", Kind::Int32),
            field("directories", UUIDS).since(1),
            field("eligibleLeaderReplicas", BROKERS).since(2).tag(1).nullable(),
            field("lastKnownElr", BROKERS).since(2).tag(2).nullable(),
        ],
    ),
    record(
        4,
        "CONFIG_RECORD",
        0,
        &[
            field("resourceType", Kind::Int8),
            field("resourceName", Kind::String),
            field("name", Kind::String),
            field("value", Kind::String).nullable(),
        ],
    ),
    record(
        5,
        "PARTITION_CHANGE_RECORD",
        2,
        &[
            field("partitionId", Kind::Int32),
            field("topicId", Kind::Uuid),
            field("isr", BROKERS).tag(0).nullable(),
            field("leader", Kind::Int32).tag(1),
            field("replicas", BROKERS).tag(2).nullable(),
            field("removingReplicas", BROKERS).tag(3).nullable(),
            field("addingReplicas", BROKERS).tag(4).nullable(),
            field("leaderRecoveryState", Kind::Int8).tag(5),
            field("directories", UUIDS).since(1).tag(8).nullable(),
            field("eligibleLeaderReplicas", BROKERS).since(2).tag(6).nullable(),
            field("lastKnownElr", BROKERS).since(2).tag(7).nullable(),
        ],
    ),
    record(7, "FENCE_BROKER_RECORD", 0, &[field("id", Kind::Int32), field("epoch", Kind::Int64)]),
    record(8, "UNFENCE_BROKER_RECORD", 0, &[field("id", Kind::Int32), field("epoch", Kind::Int64)]),
    record(9, "REMOVE_TOPIC_RECORD", 0, &[field("topicId", Kind::Uuid)]),
    record(
        10,
        "DELEGATION_TOKEN_RECORD",
        0,
        &[
            field("owner", Kind::String),
            field("requester", Kind::String),
            field("renewers", Kind::Array(&Kind::String)),
            field("issueTimestamp", Kind::Int64),
            field("maxTimestamp", Kind::Int64),
            field("expirationTimestamp", Kind::Int64),
            field("tokenId", Kind::String),
        ],
    ),
    record(
        11,
        "USER_SCRAM_CREDENTIAL_RECORD",
        0,
        &[
            field("name", Kind::String),
            field("mechanism", Kind::Int8),
            field("salt", Kind::Bytes),
            field("storedKey", Kind::Bytes),
            field("serverKey", Kind::Bytes),
            field("iterations", Kind::Int32),
        ],
    ),
    record(12, "FEATURE_LEVEL_RECORD", 0, &[field("name", Kind::String), field("featureLevel", Kind::Int16)]),
    record(
        14,
        "CLIENT_QUOTA_RECORD",
        0,
        &[
            field(
                "entity",
                Kind::Array(&Kind::Struct(&[
                    field("entityType", Kind::String),
                    field("entityName", Kind::String).nullable(),
                ])),
            ),
            field("key", Kind::String),
            field("value", Kind::Float64),
            field("remove", Kind::Bool),
        ],
    ),
    record(
        15,
        "PRODUCER_IDS_RECORD",
        0,
        &[field("brokerId", Kind::Int32), field("brokerEpoch", Kind::Int64), field("nextProducerId", Kind::Int64)],
    ),
    record(
        17,
        "BROKER_REGISTRATION_CHANGE_RECORD",
        3,
        &[
            field("brokerId", Kind::Int32),
            field("brokerEpoch", Kind::Int64),
            field("fenced", Kind::Int8).tag(0),
            field("inControlledShutdown", Kind::Int8).since(1).tag(1),
            field("logDirs", UUIDS).since(2).tag(2),
            field("cordonedLogDirs", UUIDS).since(3).tag(3).nullable(),
        ],
    ),
    record(
        18,
        "ACCESS_CONTROL_ENTRY_RECORD",
        0,
        &[
            field("id", Kind::Uuid),
            field("resourceType", Kind::Int8),
            field("resourceName", Kind::String),
            field("patternType", Kind::Int8),
            field("principal", Kind::String),
            field("host", Kind::String),
            field("operation", Kind::Int8),
            field("permissionType", Kind::Int8),
        ],
    ),
    record(19, "REMOVE_ACCESS_CONTROL_ENTRY_RECORD", 0, &[field("id", Kind::Uuid)]),
    record(20, "NO_OP_RECORD", 0, &[]),
    record(21, "ZK_MIGRATION_STATE_RECORD", 0, &[field("zkMigrationState", Kind::Int8)]),
    record(
        22,
        "REMOVE_USER_SCRAM_CREDENTIAL_RECORD",
        0,
        &[field("name", Kind::String), field("mechanism", Kind::Int8)],
    ),
    record(23, "BEGIN_TRANSACTION_RECORD", 0, &[field("name", Kind::String).tag(0).nullable()]),
    record(24, "END_TRANSACTION_RECORD", 0, &[]),
    record(25, "ABORT_TRANSACTION_RECORD", 0, &[field("reason", Kind::String).tag(0).nullable()]),
    record(26, "REMOVE_DELEGATION_TOKEN_RECORD", 0, &[field("tokenId", Kind::String)]),
    record(
        27,
        "REGISTER_CONTROLLER_RECORD",
        0,
        &[
            field("controllerId", Kind::Int32),
            field("incarnationId", Kind::Uuid),
            field("zkMigrationReady", Kind::Bool),
            field("endPoints", END_POINTS),
            field("features", FEATURES),
        ],
    ),
    record(28, "CLEAR_ELR_RECORD", 0, &[field("topicName", Kind::String)]),
    record(29, "UNREGISTER_CONTROLLER_RECORD", 0, &[field("controllerId", Kind::Int32)]),
];
