package coordsim.conformance;

import com.yammer.metrics.core.MetricsRegistry;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.LogContext;
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
import org.apache.kafka.image.TopicImage;
import org.apache.kafka.image.TopicsDelta;
import org.apache.kafka.server.share.persister.NoOpStatePersister;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Puts the coordinator of Kafka 4.1 together, as its own GroupCoordinatorService.Builder does. */
final class KafkaCoordinator extends Coordinator {
    private final CoordinatorRuntime<GroupCoordinatorShard, CoordinatorRecord> runtime;
    private final GroupCoordinatorService service;

    KafkaCoordinator(Map<String, String> properties, boolean keepLog, boolean withoutTopicCache) {
        super(keepLog, withoutTopicCache);
        LogContext logContext = new LogContext();
        AbstractConfig broker = Inside.config(properties, GroupCoordinatorConfig.class, ShareGroupConfig.class);
        GroupCoordinatorConfig config = new GroupCoordinatorConfig(broker);
        GroupConfigManager groupConfigs = new GroupConfigManager(new HashMap<>());
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
            .withDefaultWriteTimeOut(Duration.ofMillis(config.offsetCommitTimeoutMs()))
            .withCoordinatorRuntimeMetrics(new GroupCoordinatorRuntimeMetrics(new Metrics()))
            .withCoordinatorMetrics(metrics)
            .withSerializer(new GroupCoordinatorRecordSerde())
            .withAppendLingerMs(0)
            .withExecutorService(background)
            .build();
        service = Inside.construct(GroupCoordinatorService.class,
            logContext, config, runtime, metrics, groupConfigs, new NoOpStatePersister(), background);
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

    /** The broker tells of deleted partitions first (BrokerMetadataPublisher); share groups then forget them. */
    @Override
    void publish(MetadataDelta delta, MetadataImage image) {
        if (delta.topicsDelta() != null && !delta.topicsDelta().deletedTopicIds().isEmpty()) {
            try {
                service.onPartitionsDeleted(deletedPartitions(delta.topicsDelta()), BufferSupplier.NO_CACHING);
            } catch (ExecutionException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        service.onNewMetadataImage(image, delta);
    }

    private static List<TopicPartition> deletedPartitions(TopicsDelta delta) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (Uuid id : delta.deletedTopicIds()) {
            TopicImage topic = delta.image().getTopic(id);
            topic.partitions().keySet().forEach(partition -> partitions.add(new TopicPartition(topic.name(), partition)));
        }
        return partitions;
    }
}
