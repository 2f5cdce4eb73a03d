package coordsim.conformance;

import java.util.List;
import java.util.Map;

/** What a response of any kind says. */
final class Answer {
    /** Kafka's error code, 0 if there is none. */
    final short error;
    final int memberEpoch;
    /**
     * Partitions by topic id in one list for consumer and share groups; by subtopology in three (active, standby, warm-up) for
     * streams groups. In the order of the response. Null if the response carries no assignment.
     */
    final List<Map<String, List<Integer>>> assignment;

    Answer(short error, int memberEpoch, List<Map<String, List<Integer>>> assignment) {
        this.error = error;
        this.memberEpoch = memberEpoch;
        this.assignment = assignment;
    }
}
