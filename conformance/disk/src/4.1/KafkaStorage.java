package coordsim.conformance;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.LogCleanerManager;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.PreCleanStats;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

import java.io.File;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** A real log and a real cleaner, as `LogManager` and `LogCleaner` put them together, without their threads. */
final class KafkaStorage implements AutoCloseable {
    private final File dir;
    private final Clock clock;
    private final NeverScheduler scheduler = new NeverScheduler();
    private final UnifiedLog log;
    private final LogCleanerManager manager;
    private final Cleaner cleaner;

    KafkaStorage(File dir, LogConfig config, Clock clock, long dedupeBufferBytes, double loadFactor) throws Exception {
        this.dir = dir;
        this.clock = clock;
        LogDirFailureChannel failures = new LogDirFailureChannel(1);
        log = UnifiedLog.create(dir, config, 0, 0, scheduler, new BrokerTopicStats(), clock, 900_000,
            new ProducerStateManagerConfig(86_400_000, false), 600_000, failures, true, Optional.empty());
        ConcurrentMap<TopicPartition, UnifiedLog> logs = new ConcurrentHashMap<>(Map.of(log.topicPartition(), log));
        manager = new LogCleanerManager(List.of(dir.getParentFile()), logs, failures);
        Throttler throttler = new Throttler(Double.MAX_VALUE, 300, "cleaner-io", "bytes", clock);
        cleaner = new Cleaner(0, new SkimpyOffsetMap((int) dedupeBufferBytes, "MD5"), 512 * 1024 / 2, config.maxMessageSize(),
            loadFactor, throttler, clock, partition -> { });
    }

    /** Appends a batch that has its offsets, and takes it for committed. */
    void append(ByteBuffer batch) throws Exception {
        var records = KafkaDump.records(batch);
        log.appendAsFollower(records, records.batches().iterator().next().partitionLeaderEpoch());
        log.updateHighWatermark(log.logEndOffset());
    }

    /** Cleans the log if the cleaner would, once; says whether it did. */
    boolean cleanFilthiest() throws Exception {
        Optional<LogToClean> filthiest = manager.grabFilthiestCompactedLog(clock, new PreCleanStats());
        if (filthiest.isEmpty()) return false;
        long endOffset = cleaner.clean(filthiest.get()).getKey();
        manager.doneCleaning(log.topicPartition(), dir.getParentFile(), endOffset);
        return true;
    }

    @Override
    public void close() {
        log.close();
        scheduler.shutdown();
    }
}
