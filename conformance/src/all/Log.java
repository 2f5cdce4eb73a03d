package coordsim.conformance;

import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.storage.internals.log.LogConfig;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The one `__consumer_offsets` partition, as it is after compaction: the last record of every key, in log order, no tombstones. */
final class Log {
    record Entry(long offset, byte[] key, byte[] value) {
    }

    private final boolean keep;
    private final Map<ByteBuffer, Entry> compacted = new LinkedHashMap<>();
    private long endOffset;
    private boolean failing;
    private List<Outcome.Written> sink;
    private Throwable loadError;

    /** `keep`: whether the log can be loaded. */
    Log(boolean keep) {
        this.keep = keep;
    }

    /** The configuration of a topic that takes batches of that size. */
    static LogConfig config(int maxBatchBytes) {
        return new LogConfig(Map.of(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, Integer.toString(maxBatchBytes)));
    }

    /** Whether writes fail from now on. */
    void setFailing(boolean failing) {
        this.failing = failing;
    }

    /** Where what is written is noted from now on. */
    void writeInto(List<Outcome.Written> sink) {
        this.sink = sink;
    }

    /** Throws if the batch that follows is to fail. The service answers this exception with COORDINATOR_NOT_AVAILABLE. */
    void throwIfFailing() {
        if (failing) throw new NotEnoughReplicasException("the trace wants this write to fail");
    }

    void append(ByteBuffer keyBuffer, ByteBuffer valueBuffer) {
        long offset = endOffset++;
        if (!keep && sink == null) return;
        byte[] key = bytes(keyBuffer);
        byte[] value = valueBuffer == null ? null : bytes(valueBuffer);
        if (sink != null) sink.add(new Outcome.Written(key, value));
        if (!keep) return;
        ByteBuffer compactedKey = ByteBuffer.wrap(key);
        compacted.remove(compactedKey);
        if (value != null) compacted.put(compactedKey, new Entry(offset, key, value));
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    long endOffset() {
        return endOffset;
    }

    Collection<Entry> entries() {
        return compacted.values();
    }

    void setLoadError(Throwable error) {
        loadError = error;
    }

    /** Why the last load failed while records were read; null if it did not. */
    Throwable loadError() {
        return loadError;
    }
}
