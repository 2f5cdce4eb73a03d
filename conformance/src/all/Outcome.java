package coordsim.conformance;

import java.util.ArrayList;
import java.util.List;

/** What came of one write operation of the coordinator's runtime. */
final class Outcome {
    /** A record as it stands in the log; a tombstone has a null value. */
    record Written(byte[] key, byte[] value) {
    }

    final List<Written> records = new ArrayList<>();
    /** Null if the operation succeeded. */
    Throwable error;
}
