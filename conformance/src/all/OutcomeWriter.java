package coordsim.conformance;

import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.coordinator.group.Group;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/** Writes outcome lines: always all fields, in one order, without spaces. */
final class OutcomeWriter {
    private static final List<String> STREAMS_ROLES = List.of("active", "standby", "warmup");

    private final StringBuilder text = new StringBuilder();
    /** Told the index of the event and the exception of every UNKNOWN_SERVER_ERROR. */
    private final BiConsumer<Integer, Throwable> onServerError;
    private final Map<Short, String> types = new HashMap<>();
    private final Map<String, Errors> errors = new HashMap<>();
    private Coordinator coordinator;
    private long startUnixMs;

    OutcomeWriter(BiConsumer<Integer, Throwable> onServerError) {
        this.onServerError = onServerError;
    }

    void open(Coordinator coordinator, long startUnixMs) {
        this.coordinator = coordinator;
        this.startUnixMs = startUnixMs;
    }

    byte[] bytes() {
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** The line of an event that has nothing to tell. */
    void plain(int index, String cause) {
        line(index, cause, Errors.NONE, null, null, List.of());
    }

    void failover(int index, Throwable error) {
        line(index, "failover", error(index, error), null, null, List.of());
    }

    void heartbeat(int index, String group, Answer answer, Outcome outcome) {
        Errors error = Errors.forCode(answer.error);
        if (error == Errors.UNKNOWN_SERVER_ERROR && outcome.error != null) onServerError.accept(index, outcome.error);
        line(index, "heartbeat", error, answer, group, outcome.records);
    }

    /** The line of a timer or of a background task. */
    void sideEffect(int index, String cause, Outcome outcome) {
        line(index, cause, error(index, outcome.error), null, groupOf(outcome.records), outcome.records);
    }

    private Errors error(int index, Throwable thrown) {
        if (thrown == null) return Errors.NONE;
        Throwable cause = thrown.getCause() == null ? thrown : thrown.getCause();
        // Kafka's own map is by class; with one identity hash code for all classes, looking there again and again takes long.
        Errors error = errors.computeIfAbsent(thrown.getClass().getName() + cause.getClass().getName(), name -> Errors.forException(thrown));
        if (error == Errors.UNKNOWN_SERVER_ERROR) onServerError.accept(index, thrown);
        return error;
    }

    private void line(int index, String cause, Errors error, Answer answer, String groupId, List<Outcome.Written> records) {
        text.append("{\"i\":").append(index)
            .append(",\"t\":").append(coordinator.clock.nowMs - startUnixMs)
            .append(",\"cause\":\"").append(cause).append("\",\"error\":");
        if (error == Errors.NONE) text.append("null");
        else text.append('"').append(error.name()).append('"');
        boolean answered = answer != null && error == Errors.NONE;
        text.append(",\"member_epoch\":").append(answered ? (Integer) answer.memberEpoch : null).append(",\"assignment\":");
        assignment(answered ? answer.assignment : null);
        Group group = groupId == null ? null : coordinator.group(groupId);
        GroupState state = group == null ? null : GroupState.of(group);
        text.append(",\"group_epoch\":").append(state == null ? null : (Integer) state.epoch())
            .append(",\"metadata_hash\":").append(state == null ? null : state.metadataHash())
            .append(",\"records\":[");
        String separator = "";
        for (Outcome.Written record : records) {
            text.append(separator).append("{\"type\":\"").append(type(record)).append("\",\"key\":");
            hex(record.key());
            text.append(",\"value\":");
            hex(record.value());
            text.append('}');
            separator = ",";
        }
        text.append("]}\n");
    }

    private void assignment(List<Map<String, List<Integer>>> lists) {
        if (lists == null) {
            text.append("null");
        } else if (lists.size() == 1) {
            partitionLists("topic_id", lists.get(0));
        } else {
            for (int role = 0; role < lists.size(); role++) {
                text.append(role == 0 ? '{' : ',').append('"').append(STREAMS_ROLES.get(role)).append("\":");
                partitionLists("subtopology", lists.get(role));
            }
            text.append('}');
        }
    }

    private void partitionLists(String field, Map<String, List<Integer>> lists) {
        text.append('[');
        String separator = "";
        for (Map.Entry<String, List<Integer>> entry : new TreeMap<>(lists).entrySet()) {
            text.append(separator).append("{\"").append(field).append("\":");
            string(entry.getKey());
            List<Integer> partitions = new ArrayList<>(entry.getValue());
            partitions.sort(null);
            text.append(",\"partitions\":").append(partitions.toString().replace(" ", "")).append('}');
            separator = ",";
        }
        text.append(']');
    }

    private void string(String value) {
        text.append('"');
        for (char c : value.toCharArray()) {
            if (c == '"' || c == '\\') text.append('\\').append(c);
            else if (c < 0x20) text.append(String.format("\\u%04x", (int) c));
            else text.append(c);
        }
        text.append('"');
    }

    private void hex(byte[] bytes) {
        if (bytes == null) {
            text.append("null");
            return;
        }
        text.append('"');
        for (byte b : bytes) text.append(Character.forDigit((b >> 4) & 15, 16)).append(Character.forDigit(b & 15, 16));
        text.append('"');
    }

    /** The name of the schema, without `Key`. The number that a key begins with says which it is. */
    private String type(Outcome.Written record) {
        return types.computeIfAbsent(ByteBuffer.wrap(record.key()).getShort(), number -> {
            String name = coordinator.key(record).getClass().getSimpleName();
            return name.substring(0, name.length() - "Key".length());
        });
    }

    /** The group that all these records are of; null if there is none or they are of several. */
    private String groupOf(List<Outcome.Written> records) {
        String group = null;
        for (Outcome.Written record : records) {
            String next = groupOf(coordinator.key(record));
            if (group != null && !group.equals(next)) return null;
            group = next;
        }
        return group;
    }

    private static String groupOf(ApiMessage key) {
        try {
            for (Method method : key.getClass().getMethods()) {
                boolean named = method.getName().equals("groupId") || method.getName().equals("group");
                if (named && method.getParameterCount() == 0) return (String) method.invoke(key);
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        throw new IllegalStateException(key.getClass() + " names no group");
    }
}
