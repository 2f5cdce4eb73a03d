package coordsim.conformance;

import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.coordinator.group.Group;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** What the shard of a coordinator holds in memory, by component and class. */
final class Heap {
    private static final String GROUPS = "groups";
    private static final String MEMBERS = "members";
    private static final String TARGET = "target_assignment";
    private static final String CURRENT = "current_assignment";
    private static final String SUBSCRIPTIONS = "subscriptions";
    private static final String TOPICS = "groups_by_topics";
    private static final String SHARE_PARTITIONS = "share_partitions";
    private static final String TIMERS = "timers";
    private static final String REGISTRY = "snapshot_registry";
    private static final String BUFFER = "buffer";
    private static final String METADATA = "subscription_metadata";
    private static final String CACHE = "topic_hash_cache";

    /** Which component begins at which field of a group; the rest of a group is {@link #GROUPS}. The strategy's come last. */
    private static final Map<String, String> FIELDS = new LinkedHashMap<>();

    static {
        FIELDS.put("members", MEMBERS);
        FIELDS.put("staticMembers", MEMBERS);
        FIELDS.put("serverAssignors", MEMBERS);
        FIELDS.put("targetAssignment", TARGET);
        FIELDS.put("invertedTargetAssignment", TARGET);
        FIELDS.put("refinedAssignment", TARGET);
        FIELDS.put("currentPartitionEpoch", CURRENT);
        FIELDS.put("currentActiveTaskToProcessId", CURRENT);
        FIELDS.put("currentStandbyTaskToProcessIds", CURRENT);
        FIELDS.put("currentWarmupTaskToProcessIds", CURRENT);
        FIELDS.put("subscribedTopicNames", SUBSCRIPTIONS);
        FIELDS.put("subscribedRegularExpressions", SUBSCRIPTIONS);
        FIELDS.put("resolvedRegularExpressions", SUBSCRIPTIONS);
        FIELDS.put("topology", SUBSCRIPTIONS);
        FIELDS.put("configuredTopology", SUBSCRIPTIONS);
        FIELDS.put("subscribedTopicMetadata", METADATA);
        FIELDS.put("partitionMetadata", METADATA);
        FIELDS.put("metadataHash", METADATA);
        FIELDS.put("hasSubscriptionMetadataRecord", METADATA);
    }

    private static final List<String> MEMBER_FIELDS = List.of("assignedPartitions", "partitionsPendingRevocation",
        "assignedTasks", "tasksPendingRevocation");

    private Heap() {
    }

    /** A request as a broker has it: read from bytes, so that it shares nothing with any other. */
    static ApiMessage received(ApiMessage request) {
        try {
            short version = request.highestSupportedVersion();
            ObjectSerializationCache cache = new ObjectSerializationCache();
            ByteBufferAccessor bytes = new ByteBufferAccessor(ByteBuffer.allocate(request.size(cache, version)));
            request.write(bytes, cache, version);
            bytes.buffer().flip();
            ApiMessage copy = request.getClass().getDeclaredConstructor().newInstance();
            copy.read(bytes, version);
            return copy;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static String csv(Coordinator coordinator, Images images) {
        HeapWalk walk = new HeapWalk();
        if (!coordinator.isLoaded()) return walk.csv();
        // What static fields hold belongs to nobody.
        HeapWalk all = new HeapWalk();
        all.root(GROUPS, Inside.field(coordinator.manager(), "groups"));
        all.count(GROUPS);
        all.types().filter(type -> type.getName().startsWith("org.apache.kafka.coordinator.")).forEach(walk::excludeStatics);
        walk.exclude(images.image());
        for (Class<?> type : List.of(Collections.class, HashSet.class, Optional.class, Set.of().getClass().getEnclosingClass())) walk.excludeStatics(type);

        Object manager = coordinator.manager();
        Object context = coordinator.context();
        Object shard = Inside.field(context, "coordinator");
        walk.root(GROUPS, Inside.field(manager, "groups"));
        walk.root(TOPICS, Inside.field(manager, "groupsByTopics"));
        Inside.fieldIfThere(manager, "shareGroupStatePartitionMetadata").ifPresent(object -> walk.root(SHARE_PARTITIONS, object));
        walk.root(TIMERS, Inside.field(Inside.field(context, "timer"), "tasks"));
        walk.root(REGISTRY, Inside.field(shard, "snapshotRegistry"));
        walk.root(BUFFER, Inside.field(context, "bufferSupplier"));
        if (Features.HAS_TOPIC_HASHES) walk.root(CACHE, Inside.field(manager, "topicHashCache"));
        for (Object group : ((Map<?, ?>) Inside.field(manager, "groups")).values()) group(walk, (Group) group);
        Stream.of(GROUPS, MEMBERS, TARGET, CURRENT, SUBSCRIPTIONS, TOPICS, SHARE_PARTITIONS, TIMERS, METADATA, CACHE, REGISTRY, BUFFER)
            .forEach(walk::count);
        return walk.csv();
    }

    private static void group(HeapWalk walk, Group group) {
        FIELDS.forEach((field, component) -> Inside.fieldIfThere(group, field).ifPresent(object -> walk.root(component, object)));
        for (Object member : ((Map<?, ?>) Inside.field(group, "members")).values()) {
            for (String field : MEMBER_FIELDS) {
                Inside.fieldIfThere(member, field).ifPresent(object -> walk.root(CURRENT, object));
            }
        }
    }
}
