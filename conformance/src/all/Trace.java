package coordsim.conformance;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.common.protocol.ApiMessage;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A trace, read once and replayed as often as one likes. */
final class Trace {
    /** One line after the header. */
    static final class Event {
        final int line;
        final long t;
        final String cause;
        /** Of a `metadata` event, else null. */
        final List<ApiMessage> changes;
        /** Of a `heartbeat` event, else null. */
        final Heartbeat heartbeat;

        Event(int line, long t, String cause, List<ApiMessage> changes, Heartbeat heartbeat) {
            this.line = line;
            this.t = t;
            this.cause = cause;
            this.changes = changes;
            this.heartbeat = heartbeat;
        }
    }

    private static final ObjectMapper MAPPER = new ObjectMapper()
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);

    private long startUnixMs;
    private final Map<String, String> config = new HashMap<>();
    private final List<Event> events = new ArrayList<>();
    private final Map<List<String>, Member> members = new LinkedHashMap<>();
    private final MetadataChanges metadata = new MetadataChanges();

    private Trace() {
    }

    long startUnixMs() {
        return startUnixMs;
    }

    Map<String, String> config() {
        return config;
    }

    List<Event> events() {
        return events;
    }

    /** Every member forgets what it has heard. */
    void forget() {
        members.values().forEach(Member::forget);
    }

    static Trace parse(byte[] bytes) throws BadTrace {
        Trace trace = new Trace();
        BadTrace unsupported = null; // reported only if no line is worse
        int number = 0;
        for (String line : lines(bytes)) {
            number++;
            try {
                JsonNode node = MAPPER.readTree(line);
                if (!node.isObject()) throw new IllegalArgumentException("not an object");
                if (number == 1) trace.header(node);
                else trace.events.add(trace.event(node, number));
            } catch (Unsupported e) {
                if (unsupported == null) unsupported = new BadTrace(BadTrace.UNSUPPORTED, number, e.getMessage());
            } catch (JsonProcessingException e) {
                throw new BadTrace(BadTrace.MALFORMED, number, e.getOriginalMessage());
            } catch (IllegalArgumentException e) {
                throw new BadTrace(BadTrace.MALFORMED, number, e.getMessage());
            }
        }
        if (number == 0) throw new BadTrace(BadTrace.MALFORMED, 1, "no header");
        if (unsupported != null) throw unsupported;
        return trace;
    }

    private static List<String> lines(byte[] bytes) throws BadTrace {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString().lines().toList();
        } catch (CharacterCodingException e) {
            throw new BadTrace(BadTrace.MALFORMED, 1, "the trace is not UTF-8");
        }
    }

    private void header(JsonNode node) {
        Json.onlyFields(node, Set.of("trace", "start_unix_ms", "config"));
        if (Json.integer(node, "trace") != 1) throw new IllegalArgumentException("unknown trace version");
        startUnixMs = Json.integer64(node, "start_unix_ms");
        if (!node.has("config")) return;
        if (!node.get("config").isObject()) throw new IllegalArgumentException("config must be an object");
        node.get("config").fieldNames().forEachRemaining(name -> config.put(name, node.get("config").get(name).asText()));
    }

    private Event event(JsonNode node, int line) {
        long t = Json.integer64(node, "t");
        if (t < 0 || (!events.isEmpty() && t < events.get(events.size() - 1).t)) {
            throw new IllegalArgumentException("time goes back");
        }
        String cause = Json.string(node, "ev");
        switch (cause) {
            case "metadata":
                Json.onlyFields(node, Set.of("t", "ev", "changes"));
                return new Event(line, t, cause, metadata.records(Json.list(node, "changes")), null);
            case "heartbeat":
                return new Event(line, t, cause, null, Heartbeat.parse(node, members));
            case "tick":
            case "failover":
                Json.onlyFields(node, Set.of("t", "ev"));
                return new Event(line, t, cause, null, null);
            default:
                throw new IllegalArgumentException("unknown ev " + cause);
        }
    }
}
