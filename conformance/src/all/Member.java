package coordsim.conformance;

import java.util.List;
import java.util.Map;

/** What a member last heard from the coordinator. It survives a failover. */
final class Member {
    private int epoch;
    /** As {@link Answer#assignment}; null if no answer has carried one. */
    private List<Map<String, List<Integer>>> assignment;

    int epoch() {
        return epoch;
    }

    /** The i-th list of the last assignment: by topic id, or by subtopology. */
    Map<String, List<Integer>> assignment(int i) {
        return assignment == null ? Map.of() : assignment.get(i);
    }

    void hear(Answer answer) {
        if (answer.error != 0) return;
        epoch = answer.memberEpoch;
        if (answer.assignment != null) assignment = answer.assignment;
    }

    void forget() {
        epoch = 0;
        assignment = null;
    }
}
