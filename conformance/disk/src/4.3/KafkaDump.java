package coordsim.conformance;

import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.tools.DumpLogSegments;

import java.nio.ByteBuffer;

/** Where this version has `DumpLogSegments`, and the classes of record batches. */
final class KafkaDump {
    private KafkaDump() {
    }

    static void run(String... args) throws Exception {
        DumpLogSegments.main(args);
    }

    /** A batch of one record. */
    static ByteBuffer batch(long offset, byte[] key, byte[] value) {
        return MemoryRecords.withRecords(offset, Compression.NONE, new SimpleRecord(0, key, value)).buffer();
    }

    /** Batches as this version reads them. */
    static MemoryRecords records(ByteBuffer batches) {
        return MemoryRecords.readableRecords(batches);
    }
}
