package coordsim.conformance;

import org.apache.kafka.coordinator.group.Group;
import org.apache.kafka.coordinator.group.modern.ModernGroup;

/** What an outcome tells of a group. */
record GroupState(int epoch, Long metadataHash) {
    /** Null for kinds of groups that a trace does not have. */
    static GroupState of(Group group) {
        if (group instanceof ModernGroup<?> modern) return new GroupState(modern.groupEpoch(), null);
        return null;
    }
}
