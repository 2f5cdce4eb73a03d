package coordsim.conformance;

import kafka.log.Cleaner;
import kafka.log.LogCleanerManager;
import kafka.log.LogToClean;
import kafka.log.PreCleanStats;
import kafka.log.UnifiedLog;
import kafka.server.BrokerTopicStats;
import kafka.utils.Pool;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.utils.Throttler;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.BoxedUnit;

import java.io.File;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

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
        log = UnifiedLog.apply(dir, config, 0, 0, scheduler, new BrokerTopicStats(false), clock, 900_000,
            new ProducerStateManagerConfig(86_400_000, false), 600_000, failures, true, Option.empty(), true, new ConcurrentHashMap<>(),
            false, LogOffsetsListener.NO_OP_OFFSETS_LISTENER);
        Pool<TopicPartition, UnifiedLog> logs = new Pool<>(Option.empty());
        logs.put(log.topicPartition(), log);
        manager = new LogCleanerManager(CollectionConverters.asScala(List.of(dir.getParentFile())), logs, failures);
        Throttler throttler = new Throttler(Double.MAX_VALUE, 300, "cleaner-io", "bytes", clock);
        cleaner = new Cleaner(0, new SkimpyOffsetMap((int) dedupeBufferBytes, "MD5"), 512 * 1024 / 2, config.maxMessageSize(),
            loadFactor, throttler, clock, partition -> BoxedUnit.UNIT);
    }

    /** Appends a batch that has its offsets, and takes it for committed. */
    void append(ByteBuffer batch) {
        var records = KafkaDump.records(batch);
        log.appendAsFollower(records, records.batches().iterator().next().partitionLeaderEpoch());
        log.updateHighWatermark(log.logEndOffset());
    }

    /** Cleans the log if the cleaner would, once; says whether it did. */
    boolean cleanFilthiest() {
        Option<LogToClean> filthiest = manager.grabFilthiestCompactedLog(clock, new PreCleanStats());
        if (filthiest.isEmpty()) return false;
        long endOffset = (Long) cleaner.clean(filthiest.get())._1();
        manager.doneCleaning(log.topicPartition(), dir.getParentFile(), endOffset);
        return true;
    }

    @Override
    public void close() {
        log.close();
        scheduler.shutdown();
    }
}
