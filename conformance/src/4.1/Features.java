package coordsim.conformance;

import com.fasterxml.jackson.databind.JsonNode;

import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;

import java.util.List;
import java.util.Map;

/** What 4.1 and later versions have. */
final class Features {
    /** Whether the coordinator resolves regular expressions. */
    static final boolean HAS_REGEX = true;
    /** Whether groups store hashes of their topics, and the coordinator keeps those of topics. */
    static final boolean HAS_TOPIC_HASHES = true;

    private Features() {
    }

    /** Reads a heartbeat line of that kind. */
    static Heartbeat parse(String kind, JsonNode node, Map<List<String>, Member> members) {
        return switch (kind) {
            case "consumer" -> new ConsumerHeartbeat(node, members);
            case "share" -> new ShareHeartbeat(node, members);
            case "streams" -> new StreamsHeartbeat(node, members);
            default -> throw new IllegalArgumentException("unknown kind " + kind);
        };
    }

    static void setRegex(ConsumerGroupHeartbeatRequestData request, String regex) {
        request.setSubscribedTopicRegex(regex);
    }
}
