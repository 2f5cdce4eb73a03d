package coordsim.conformance;

import com.fasterxml.jackson.databind.JsonNode;

import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** One `heartbeat` line. Each kind of group has its own subclass. */
abstract class Heartbeat {
    private static final Set<String> COMMON_FIELDS =
        Set.of("t", "ev", "kind", "group", "member", "epoch", "rack", "client_id", "client_host", "write");
    /** A text of its own for each request, as a broker reads it. */
    private static final char[] CLIENT_ID = "client".toCharArray();
    private static final int DEFAULT_REBALANCE_TIMEOUT_MS = 300_000;

    final String group;
    final boolean failWrite;
    final Member member;
    final RequestContext context;
    protected final String memberId;
    protected final String rack;
    /** Null: the epoch that the member last heard. */
    private final Integer epoch;

    /** Reads what all kinds have in common; `ownFields` are those that only this kind has. */
    protected Heartbeat(JsonNode node, Map<List<String>, Member> members, ApiKeys api, Set<String> ownFields) {
        Set<String> known = new HashSet<>(COMMON_FIELDS);
        known.addAll(ownFields);
        Json.onlyFields(node, known);
        group = Json.string(node, "group");
        memberId = Json.string(node, "member");
        member = members.computeIfAbsent(List.of(Json.string(node, "kind"), group, memberId), key -> new Member());
        epoch = Json.isLast(node, "epoch") ? null : (Integer) Json.integer(node, "epoch");
        rack = Json.stringOrNull(node, "rack");
        failWrite = node.has("write");
        if (failWrite && !Json.string(node, "write").equals("fail")) throw new IllegalArgumentException("write can only be \"fail\"");
        context = context(api,
            node.has("client_id") ? Json.string(node, "client_id") : String.copyValueOf(CLIENT_ID),
            address(node.has("client_host") ? Json.string(node, "client_host") : "/127.0.0.1"));
    }

    /** Reads a line of any kind that this Kafka version has; `members` has those of all lines before and gets this one's. */
    static Heartbeat parse(JsonNode node, Map<List<String>, Member> members) {
        return Features.parse(Json.string(node, "kind"), node, members);
    }

    /** The request, with what the member last heard filled in. */
    abstract ApiMessage request();

    /** Hands a request to the coordinator. */
    abstract CompletableFuture<?> send(GroupCoordinatorService service, ApiMessage request);

    /** Reads what the future of {@link #send} completed with. */
    abstract Answer answer(Object response);

    /** Whether the line asks to join, whatever the member has heard: then what it leaves out is sent empty. */
    protected final boolean joins() {
        return epoch != null && epoch == 0;
    }

    protected final int epoch() {
        return epoch == null ? member.epoch() : epoch;
    }

    protected final int rebalanceTimeoutMs(JsonNode node) {
        if (node.has("rebalance_timeout_ms")) return Json.integer(node, "rebalance_timeout_ms");
        return joins() ? DEFAULT_REBALANCE_TIMEOUT_MS : -1;
    }

    /** From Java's own text form `name/address`, with the name perhaps empty. */
    private static InetAddress address(String host) {
        int slash = host.indexOf('/');
        try {
            InetAddress address = InetAddress.getByName(host.substring(slash + 1));
            return InetAddress.getByAddress(slash <= 0 ? null : host.substring(0, slash), address.getAddress());
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("client_host must be like /127.0.0.1");
        }
    }

    private static RequestContext context(ApiKeys api, String clientId, InetAddress address) {
        return new RequestContext(
            new RequestHeader(api, api.latestVersion(), clientId, 0), "1", address, KafkaPrincipal.ANONYMOUS,
            ListenerName.forSecurityProtocol(SecurityProtocol.PLAINTEXT), SecurityProtocol.PLAINTEXT,
            ClientInformation.EMPTY, false);
    }
}
