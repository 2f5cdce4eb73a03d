package coordsim.conformance;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.coordinator.common.runtime.CoordinatorLoader;
import org.apache.kafka.coordinator.common.runtime.CoordinatorPlayback;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.PartitionWriter;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/** {@link Log} as the runtime of this version wants it: it writes batches and loads records. */
final class KafkaLog implements PartitionWriter, CoordinatorLoader<CoordinatorRecord> {
    /** A trace knows no limit, but this version allocates that much at once for every shard (CoordinatorRuntime); a real log takes 1 MiB. */
    private static final LogConfig CONFIG = Log.config(4 << 20);

    private final Log log;
    private final GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();
    private Listener listener;

    KafkaLog(Log log) {
        this.log = log;
    }

    /** The key of a record that has been written. */
    ApiMessage key(byte[] key, byte[] value) {
        return serde.deserialize(ByteBuffer.wrap(key), value == null ? null : ByteBuffer.wrap(value)).key().message();
    }

    @Override
    public void registerListener(TopicPartition partition, Listener listener) {
        this.listener = listener;
    }

    @Override
    public void deregisterListener(TopicPartition partition, Listener listener) {
        this.listener = null;
    }

    @Override
    public LogConfig config(TopicPartition partition) {
        return CONFIG;
    }

    /** What is written is committed at once. */
    @Override
    public long append(TopicPartition partition, VerificationGuard guard, MemoryRecords records) {
        log.throwIfFailing();
        for (Record record : records.records()) log.append(record.key(), record.value());
        listener.onHighWatermarkUpdated(partition, log.endOffset());
        return log.endOffset();
    }

    @Override
    public CompletableFuture<LoadSummary> load(TopicPartition partition, CoordinatorPlayback<CoordinatorRecord> coordinator) {
        log.setLoadError(null);
        try {
            for (Log.Entry entry : log.entries()) {
                coordinator.replay(entry.offset(), RecordBatch.NO_PRODUCER_ID, RecordBatch.NO_PRODUCER_EPOCH,
                    serde.deserialize(ByteBuffer.wrap(entry.key()), ByteBuffer.wrap(entry.value())));
            }
            if (log.endOffset() > 0) {
                coordinator.updateLastWrittenOffset(log.endOffset());
                coordinator.updateLastCommittedOffset(log.endOffset());
            }
            return CompletableFuture.completedFuture(null);
        } catch (RuntimeException e) {
            log.setLoadError(e);
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override
    public CompletableFuture<VerificationGuard> maybeStartTransactionVerification(
        TopicPartition partition, String transactionalId, long producerId, short producerEpoch, short apiVersion
    ) {
        throw new UnsupportedOperationException("a trace has no transactions");
    }

    @Override
    public CompletableFuture<Void> deleteRecords(TopicPartition partition, long beforeOffset) {
        throw new UnsupportedOperationException("a trace does not shorten the log");
    }

    @Override
    public void close() {
    }
}
