package coordsim.conformance;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.coordinator.group.Group;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;
import org.apache.kafka.coordinator.group.GroupCoordinatorShard;
import org.apache.kafka.coordinator.group.GroupMetadataManager;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;

import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/**
 * Kafka's group coordinator with one shard: the real service, runtime and shard of one version, on a clock, a timer, a queue, a log and
 * a background of ours. {@code KafkaCoordinator} puts it together for each version.
 */
abstract class Coordinator {
    static final TopicPartition PARTITION = new TopicPartition("__consumer_offsets", 0);

    final Clock clock = new Clock();
    final Timers timers = new Timers(clock);
    final Background background = new Background();
    final Log log;
    final EventQueue events;
    protected final KafkaLog kafkaLog;
    /** The shard's; null while the shard could not be loaded. */
    private GroupMetadataManager manager;
    private int leaderEpoch;
    private final boolean withoutTopicCache;

    /** `keepLog`: whether there can be a failover. `withoutTopicCache`: no topic hash outlives the operation that computed it. */
    protected Coordinator(boolean keepLog, boolean withoutTopicCache) {
        this.withoutTopicCache = withoutTopicCache;
        log = new Log(keepLog);
        events = new EventQueue(log);
        kafkaLog = new KafkaLog(log);
    }

    protected abstract GroupCoordinatorService service();

    /** The shard, by way of a read operation of the runtime. */
    protected abstract CompletableFuture<GroupCoordinatorShard> readShard();

    /** Hands a new image to the service. */
    abstract void publish(MetadataDelta delta, MetadataImage image);

    /** Makes this broker the shard's leader anew, so that the shard is loaded from the log. Returns why that failed, or null. */
    Throwable load() {
        if (leaderEpoch > 0) service().onResignation(PARTITION.partition(), OptionalInt.of(leaderEpoch++));
        events.beforeEach(() -> { });
        service().onElection(PARTITION.partition(), leaderEpoch++);
        CompletableFuture<GroupCoordinatorShard> loaded = readShard();
        if (loaded.isCompletedExceptionally()) {
            manager = null;
            return log.loadError() != null ? log.loadError() : new IllegalStateException("the shard failed when it had been loaded");
        }
        manager = (GroupMetadataManager) Inside.field(loaded.join(), "groupMetadataManager");
        cancelShardTimers(loaded.join());
        if (withoutTopicCache) events.beforeEach(((Map<?, ?>) Inside.field(manager, "topicHashCache"))::clear);
        return null;
    }

    /** The shard's own timers delete expired offsets and empty groups and count groups; the trace format leaves them out. */
    private static void cancelShardTimers(GroupCoordinatorShard shard) {
        Object timer = Inside.field(shard, "timer");
        for (String key : Inside.constants(GroupCoordinatorShard.class, "_KEY")) Inside.call(timer, "cancel", key);
    }

    /** The shard's; null if there is none. */
    GroupMetadataManager manager() {
        return manager;
    }

    /** What the runtime keeps of the shard. */
    Object context() {
        Object runtime = Inside.field(service(), "runtime");
        return ((Map<?, ?>) Inside.field(runtime, "coordinators")).get(PARTITION);
    }

    /** Whether the last load succeeded. */
    boolean isLoaded() {
        return manager != null;
    }

    /** Null if there is no such group, or no shard. */
    Group group(String id) {
        if (manager == null) return null;
        try {
            return manager.group(id);
        } catch (GroupIdNotFoundException e) {
            return null;
        }
    }

    /** Sends a heartbeat and waits for nothing: all that the answer needs has been done when the call returns. */
    Object heartbeat(Heartbeat heartbeat, ApiMessage request) {
        log.setFailing(heartbeat.failWrite);
        try {
            CompletableFuture<?> response = heartbeat.send(service(), request);
            if (!response.isDone()) throw new IllegalStateException("the heartbeat has not been answered");
            return response.join();
        } finally {
            log.setFailing(false);
        }
    }

    /** The key of a record that this coordinator has written. */
    ApiMessage key(Outcome.Written record) {
        return kafkaLog.key(record.key(), record.value());
    }
}
