package coordsim.conformance;

import com.fasterxml.jackson.databind.JsonNode;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData.TopicPartitions;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** A heartbeat of a consumer group (KIP-848). */
final class ConsumerHeartbeat extends Heartbeat {
    private final List<String> topics;
    private final String regex;
    private final String instance;
    private final String assignor;
    private final int rebalanceTimeoutMs;
    private final boolean ownsLast;
    private final List<TopicPartitions> owned;

    ConsumerHeartbeat(JsonNode node, Map<List<String>, Member> members) {
        super(node, members, ApiKeys.CONSUMER_GROUP_HEARTBEAT,
            Set.of("topics", "regex", "instance", "assignor", "rebalance_timeout_ms", "owned"));
        topics = Json.stringsOrNull(node, "topics");
        regex = Json.stringOrNull(node, "regex");
        if (regex != null && !Features.HAS_REGEX) throw new Unsupported("this version resolves no regular expressions");
        instance = Json.stringOrNull(node, "instance");
        assignor = Json.stringOrNull(node, "assignor");
        rebalanceTimeoutMs = rebalanceTimeoutMs(node);
        ownsLast = Json.isLast(node, "owned");
        owned = ownsLast ? null : owned(node);
    }

    private List<TopicPartitions> owned(JsonNode node) {
        if (!node.has("owned")) return joins() ? List.of() : null;
        List<TopicPartitions> list = new ArrayList<>();
        for (JsonNode item : Json.list(node, "owned")) {
            Json.onlyFields(item, Set.of("topic_id", "partitions"));
            list.add(topicPartitions(Json.string(item, "topic_id"), Json.integers(item.get("partitions"), "partitions")));
        }
        return list;
    }

    private static TopicPartitions topicPartitions(String topicId, List<Integer> partitions) {
        return new TopicPartitions().setTopicId(Uuid.fromString(topicId)).setPartitions(partitions);
    }

    private List<TopicPartitions> ownedLast() {
        List<TopicPartitions> list = new ArrayList<>();
        member.assignment(0).forEach((topicId, partitions) -> list.add(topicPartitions(topicId, partitions)));
        return list;
    }

    @Override
    ApiMessage request() {
        ConsumerGroupHeartbeatRequestData request = new ConsumerGroupHeartbeatRequestData()
            .setGroupId(group)
            .setMemberId(memberId)
            .setMemberEpoch(epoch())
            .setInstanceId(instance)
            .setRackId(rack)
            .setRebalanceTimeoutMs(rebalanceTimeoutMs)
            .setSubscribedTopicNames(topics)
            .setServerAssignor(assignor)
            .setTopicPartitions(ownsLast ? ownedLast() : owned);
        Features.setRegex(request, regex);
        return request;
    }

    @Override
    CompletableFuture<?> send(GroupCoordinatorService service, ApiMessage request) {
        return service.consumerGroupHeartbeat(context, (ConsumerGroupHeartbeatRequestData) request);
    }

    @Override
    Answer answer(Object response) {
        ConsumerGroupHeartbeatResponseData data = (ConsumerGroupHeartbeatResponseData) response;
        List<Map<String, List<Integer>>> assignment = null;
        if (data.assignment() != null) {
            Map<String, List<Integer>> topics = new LinkedHashMap<>();
            data.assignment().topicPartitions().forEach(topic -> topics.put(topic.topicId().toString(), topic.partitions()));
            assignment = List.of(topics);
        }
        return new Answer(data.errorCode(), data.memberEpoch(), assignment);
    }
}
