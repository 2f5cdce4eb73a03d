//! The classes whose objects are counted, and their fields.

use super::layout::Fields;

/// A class, or a set of classes of which only the names matter to nobody (lambdas).
macro_rules! classes {
    ($($class:ident = $name:literal { $($field:ident: $count:literal),* };)*) => {
        /// A Java class.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(usize)]
        #[allow(missing_docs, reason = "each is the Java class of that name")]
        pub enum Class { $($class),* }

        impl Class {
            /// All of them.
            pub const ALL: &'static [Class] = &[$(Class::$class),*];

            /// Its name, as JOL and heap dumps write it.
            pub const fn name(self) -> &'static str {
                match self { $(Class::$class => $name),* }
            }

            /// Its fields and those of its superclasses, in the newest version where versions differ.
            pub const fn fields(self) -> Fields {
                match self {
                    $(Class::$class => Fields::NONE$(.$field($count))*),*
                }
            }
        }
    };
}

classes! {
    ByteArray = "byte[]" {};
    ObjectArray = "java.lang.Object[]" {};
    NodeArray = "java.util.HashMap$Node[]" {};
    ConcurrentNodeArray = "java.util.concurrent.ConcurrentHashMap$Node[]" {};

    String = "java.lang.String" { references: 1, ints: 1, bytes: 2 };
    Integer = "java.lang.Integer" { ints: 1 };
    Long = "java.lang.Long" { longs: 1 };
    HashMap = "java.util.HashMap" { references: 4, ints: 4 };
    HashMapNode = "java.util.HashMap$Node" { references: 3, ints: 1 };
    HashMapKeySet = "java.util.HashMap$KeySet" { references: 1 };
    HashMapEntrySet = "java.util.HashMap$EntrySet" { references: 1 };
    HashSet = "java.util.HashSet" { references: 1 };
    ArrayList = "java.util.ArrayList" { references: 1, ints: 2 };
    UnmodifiableSet = "java.util.Collections$UnmodifiableSet" { references: 1 };
    UnmodifiableMap = "java.util.Collections$UnmodifiableMap" { references: 4 };
    UnmodifiableEntrySet = "java.util.Collections$UnmodifiableMap$UnmodifiableEntrySet" { references: 1 };
    HashMapValues = "java.util.HashMap$Values" { references: 1 };
    TreeMap = "java.util.TreeMap" { references: 7, ints: 2 };
    TreeMapEntry = "java.util.TreeMap$Entry" { references: 5, bytes: 1 };
    TreeMapKeySet = "java.util.TreeMap$KeySet" { references: 1 };
    TreeMapValues = "java.util.TreeMap$Values" { references: 1 };
    UnmodifiableCollection = "java.util.Collections$UnmodifiableCollection" { references: 1 };
    ListN = "java.util.ImmutableCollections$ListN" { references: 1, bytes: 1 };
    Set12 = "java.util.ImmutableCollections$Set12" { references: 2 };
    SetN = "java.util.ImmutableCollections$SetN" { references: 1, ints: 1 };
    Map1 = "java.util.ImmutableCollections$Map1" { references: 4 };
    MapN = "java.util.ImmutableCollections$MapN" { references: 3, ints: 1 };
    Optional = "java.util.Optional" { references: 1 };
    ConcurrentHashMap = "java.util.concurrent.ConcurrentHashMap" { references: 8, longs: 1, ints: 3 };
    ConcurrentHashMapNode = "java.util.concurrent.ConcurrentHashMap$Node" { references: 3, ints: 1 };
    IdentityHashMap = "java.util.IdentityHashMap" { references: 4, ints: 2 };
    WeakReference = "java.lang.ref.WeakReference" { references: 4 };
    HeapByteBuffer = "java.nio.HeapByteBuffer" { references: 2, longs: 1, ints: 5, bytes: 3 };

    Uuid = "org.apache.kafka.common.Uuid" { longs: 2 };
    GrowableBufferSupplier = "org.apache.kafka.common.utils.BufferSupplier$GrowableBufferSupplier" { references: 1 };

    SnapshotRegistry = "org.apache.kafka.timeline.SnapshotRegistry" { references: 4, longs: 1, ints: 2 };
    Snapshot = "org.apache.kafka.timeline.Snapshot" { references: 3, longs: 1 };
    TimelineHashMap = "org.apache.kafka.timeline.TimelineHashMap" { references: 2, ints: 1 };
    TimelineHashMapEntry = "org.apache.kafka.timeline.TimelineHashMap$TimelineHashMapEntry" { references: 2, longs: 1 };
    TimelineHashSet = "org.apache.kafka.timeline.TimelineHashSet" { references: 2, ints: 1 };
    TimelineHashSetEntry = "org.apache.kafka.timeline.TimelineHashSet$TimelineHashSetEntry" { references: 1, longs: 1 };
    TimelineInteger = "org.apache.kafka.timeline.TimelineInteger" { references: 1, ints: 1 };
    TimelineLong = "org.apache.kafka.timeline.TimelineLong" { references: 1, longs: 1 };
    TimelineObject = "org.apache.kafka.timeline.TimelineObject" { references: 3 };

    ConsumerGroup = "org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup" { references: 20 };
    ConsumerGroupMember = "org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember" { references: 12, ints: 3 };
    ShareGroup = "org.apache.kafka.coordinator.group.modern.share.ShareGroup" { references: 12 };
    ShareGroupMember = "org.apache.kafka.coordinator.group.modern.share.ShareGroupMember" { references: 8, ints: 2 };
    ShareGroupStatePartitionMetadataInfo = "org.apache.kafka.coordinator.group.modern.share.ShareGroup$ShareGroupStatePartitionMetadataInfo" { references: 3 };
    InitMapValue = "org.apache.kafka.coordinator.group.modern.share.ShareGroup$InitMapValue" { references: 2, longs: 1 };
    StreamsGroup = "org.apache.kafka.coordinator.group.streams.StreamsGroup" { references: 20, ints: 1 };
    RefinedAssignment = "org.apache.kafka.coordinator.group.streams.StreamsGroup$RefinedAssignment" { references: 1, ints: 1 };
    StreamsGroupMember = "org.apache.kafka.coordinator.group.streams.StreamsGroupMember" { references: 15 };
    StreamsDeadlineAndEpoch = "org.apache.kafka.coordinator.group.streams.StreamsGroup$DeadlineAndEpoch" { longs: 1, ints: 1 };
    Endpoint = "org.apache.kafka.coordinator.group.generated.StreamsGroupMemberMetadataValue$Endpoint" { references: 2, ints: 1 };
    TasksTuple = "org.apache.kafka.coordinator.group.streams.TasksTuple" { references: 3 };
    TasksTupleWithEpochs = "org.apache.kafka.coordinator.group.streams.TasksTupleWithEpochs" { references: 3 };
    StreamsTopology = "org.apache.kafka.coordinator.group.streams.StreamsTopology" { references: 2, ints: 1 };
    Subtopology = "org.apache.kafka.coordinator.group.generated.StreamsGroupTopologyValue$Subtopology" { references: 8 };
    TopicInfo = "org.apache.kafka.coordinator.group.generated.StreamsGroupTopologyValue$TopicInfo" { references: 3, ints: 1, bytes: 2 };
    TopicConfig = "org.apache.kafka.coordinator.group.generated.StreamsGroupTopologyValue$TopicConfig" { references: 3 };
    CopartitionGroup = "org.apache.kafka.coordinator.group.generated.StreamsGroupTopologyValue$CopartitionGroup" { references: 4 };
    ConfiguredTopology = "org.apache.kafka.coordinator.group.streams.topics.ConfiguredTopology" { references: 3, longs: 1, ints: 1 };
    ConfiguredSubtopology = "org.apache.kafka.coordinator.group.streams.topics.ConfiguredSubtopology" { references: 4, ints: 1 };
    ConfiguredInternalTopic = "org.apache.kafka.coordinator.group.streams.topics.ConfiguredInternalTopic" { references: 3, ints: 1 };
    DeadlineAndEpoch = "org.apache.kafka.coordinator.group.modern.ModernGroup$DeadlineAndEpoch" { longs: 1, ints: 1 };
    TargetAssignmentMetadata = "org.apache.kafka.coordinator.group.TargetAssignmentMetadata" { longs: 1, ints: 1 };
    SubscriptionCount = "org.apache.kafka.coordinator.group.modern.SubscriptionCount" { ints: 2 };
    ResolvedRegularExpression = "org.apache.kafka.coordinator.group.modern.consumer.ResolvedRegularExpression" { references: 1, longs: 2 };
    Assignment = "org.apache.kafka.coordinator.group.modern.Assignment" { references: 1 };
    TopicMetadata = "org.apache.kafka.coordinator.group.modern.TopicMetadata" { references: 2, ints: 1 };

    TimerLambda = "org.apache.kafka.coordinator.group.GroupMetadataManager$$Lambda" { references: 3 };
    TimerTask = "org.apache.kafka.coordinator.common.runtime.CoordinatorTimerImpl$1" { references: 4, longs: 2, bytes: 1 };
    TimerTaskEntry = "org.apache.kafka.server.util.timer.TimerTaskEntry" { references: 4, longs: 1 };
}
