package coordsim.conformance;

import com.fasterxml.jackson.databind.JsonNode;

import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;

import java.util.List;
import java.util.Map;

/** What 4.0 has and has not: its share groups are a preview. */
final class Features {
    /** Whether the coordinator resolves regular expressions. */
    static final boolean HAS_REGEX = true;
    /** Whether groups store hashes of their topics, and the coordinator keeps those of topics. */
    static final boolean HAS_TOPIC_HASHES = false;

    private Features() {
    }

    /** Reads a heartbeat line of that kind. */
    static Heartbeat parse(String kind, JsonNode node, Map<List<String>, Member> members) {
        return switch (kind) {
            case "consumer" -> new ConsumerHeartbeat(node, members);
            case "share", "streams" -> throw new Unsupported("this version replays no " + kind + " groups");
            default -> throw new IllegalArgumentException("unknown kind " + kind);
        };
    }

    static void setRegex(ConsumerGroupHeartbeatRequestData request, String regex) {
        request.setSubscribedTopicRegex(regex);
    }
}
