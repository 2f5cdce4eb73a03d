package coordsim.conformance;

import com.fasterxml.jackson.databind.JsonNode;

import org.apache.kafka.common.message.ShareGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ShareGroupHeartbeatResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** A heartbeat of a share group (KIP-932). */
final class ShareHeartbeat extends Heartbeat {
    private final List<String> topics;

    ShareHeartbeat(JsonNode node, Map<List<String>, Member> members) {
        super(node, members, ApiKeys.SHARE_GROUP_HEARTBEAT, Set.of("topics"));
        topics = Json.stringsOrNull(node, "topics");
    }

    @Override
    ApiMessage request() {
        return new ShareGroupHeartbeatRequestData()
            .setGroupId(group)
            .setMemberId(memberId)
            .setMemberEpoch(epoch())
            .setRackId(rack)
            .setSubscribedTopicNames(topics);
    }

    @Override
    CompletableFuture<?> send(GroupCoordinatorService service, ApiMessage request) {
        return service.shareGroupHeartbeat(context, (ShareGroupHeartbeatRequestData) request);
    }

    @Override
    Answer answer(Object response) {
        ShareGroupHeartbeatResponseData data = (ShareGroupHeartbeatResponseData) response;
        List<Map<String, List<Integer>>> assignment = null;
        if (data.assignment() != null) {
            Map<String, List<Integer>> topics = new LinkedHashMap<>();
            data.assignment().topicPartitions().forEach(topic -> topics.put(topic.topicId().toString(), topic.partitions()));
            assignment = List.of(topics);
        }
        return new Answer(data.errorCode(), data.memberEpoch(), assignment);
    }
}
