package coordsim.conformance;

import com.yammer.metrics.core.MetricsRegistry;

import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;
import org.apache.kafka.coordinator.group.GroupCoordinatorShard;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorRuntimeMetrics;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.server.share.persister.NoOpStatePersister;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/** Puts the coordinator of Kafka 4.4 together, as its own GroupCoordinatorService.Builder does. */
final class KafkaCoordinator extends Coordinator {
    /** A PartitionMetadataClient, which no heartbeat needs. */
    private static final Object NO_OFFSETS_OF_OTHERS = null;

    private final CoordinatorRuntime<GroupCoordinatorShard, CoordinatorRecord> runtime;
    private final GroupCoordinatorService service;

    KafkaCoordinator(Map<String, String> properties, boolean keepLog, boolean withoutTopicCache) {
        super(keepLog, withoutTopicCache);
        LogContext logContext = new LogContext();
        AbstractConfig broker = Inside.config(properties, GroupCoordinatorConfig.class, ShareGroupConfig.class);
        GroupCoordinatorConfig config = new GroupCoordinatorConfig(broker);
        ShareGroupConfig shareConfig = new ShareGroupConfig(broker);
        GroupConfigManager groupConfigs = new GroupConfigManager(config, shareConfig);
        GroupCoordinatorMetrics metrics = new GroupCoordinatorMetrics(new MetricsRegistry(), new Metrics());
        runtime = new CoordinatorRuntime.Builder<GroupCoordinatorShard, CoordinatorRecord>()
            .withLogContext(logContext)
            .withEventProcessor(new KafkaEvents(events))
            .withPartitionWriter(kafkaLog)
            .withLoader(kafkaLog)
            .withCoordinatorShardBuilderSupplier(() -> new GroupCoordinatorShard.Builder(config, groupConfigs)
                .withAuthorizerPlugin(Optional.empty()))
            .withTime(clock)
            .withTimer(timers)
            .withWriteTimeout(Duration.ofMillis(config.offsetCommitTimeoutMs()))
            .withCoordinatorRuntimeMetrics(new GroupCoordinatorRuntimeMetrics(new Metrics()))
            .withCoordinatorMetrics(metrics)
            .withSerializer(new GroupCoordinatorRecordSerde())
            .withAppendLingerMs(OptionalInt.of(0))
            .withExecutorService(background)
            .withCachedBufferMaxBytesSupplier(config::cachedBufferMaxBytes)
            .build();
        service = Inside.construct(GroupCoordinatorService.class,
            logContext, config, runtime, metrics, groupConfigs, new NoOpStatePersister(), background,
            NO_OFFSETS_OF_OTHERS, Optional.empty(), clock);
        service.startup(() -> 1);
    }

    @Override
    protected GroupCoordinatorService service() {
        return service;
    }

    @Override
    protected CompletableFuture<GroupCoordinatorShard> readShard() {
        return runtime.scheduleReadOperation("shard", PARTITION, (shard, offset) -> shard);
    }

    @Override
    void publish(MetadataDelta delta, MetadataImage image) {
        service.onMetadataUpdate(delta, image);
    }
}
