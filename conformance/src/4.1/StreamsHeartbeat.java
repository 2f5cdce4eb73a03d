package coordsim.conformance;

import com.fasterxml.jackson.databind.JsonNode;

import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData;
import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData.Subtopology;
import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData.TaskIds;
import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData.TopicInfo;
import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData.Topology;
import org.apache.kafka.common.message.StreamsGroupHeartbeatResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;
import org.apache.kafka.coordinator.group.streams.StreamsGroupHeartbeatResult;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** A heartbeat of a streams group (KIP-1071). */
final class StreamsHeartbeat extends Heartbeat {
    /** In the order of {@link Answer#assignment}. */
    private static final List<String> ROLES = List.of("active", "standby", "warmup");

    private final String instance;
    private final int rebalanceTimeoutMs;
    private final String processId;
    private final Topology topology;
    /** By role: what the line says; null if it says nothing. */
    private final List<List<TaskIds>> tasks = new ArrayList<>();
    /** By role: whether it is what the member last heard. */
    private final List<Boolean> tasksLast = new ArrayList<>();

    StreamsHeartbeat(JsonNode node, Map<List<String>, Member> members) {
        super(node, members, ApiKeys.STREAMS_GROUP_HEARTBEAT,
            Set.of("instance", "rebalance_timeout_ms", "topology", "process_id", "active", "standby", "warmup"));
        instance = Json.stringOrNull(node, "instance");
        rebalanceTimeoutMs = rebalanceTimeoutMs(node);
        processId = Json.stringOrNull(node, "process_id");
        topology = node.has("topology") ? topology(node.get("topology")) : null;
        for (String role : ROLES) {
            boolean last = Json.isLast(node, role);
            tasksLast.add(last);
            tasks.add(last ? null : tasks(node, role));
        }
    }

    private static Topology topology(JsonNode node) {
        Json.onlyFields(node, Set.of("epoch", "subtopologies"));
        List<Subtopology> subtopologies = new ArrayList<>();
        for (JsonNode item : Json.list(node, "subtopologies")) {
            Json.onlyFields(item, Set.of("id", "sources", "repartition_sinks", "state_changelogs", "repartition_sources"));
            Subtopology subtopology = new Subtopology().setSubtopologyId(Json.string(item, "id"));
            if (item.has("sources")) subtopology.setSourceTopics(Json.stringsOrNull(item, "sources"));
            if (item.has("repartition_sinks")) subtopology.setRepartitionSinkTopics(Json.stringsOrNull(item, "repartition_sinks"));
            if (item.has("state_changelogs")) subtopology.setStateChangelogTopics(topicInfos(item, "state_changelogs"));
            if (item.has("repartition_sources")) subtopology.setRepartitionSourceTopics(topicInfos(item, "repartition_sources"));
            subtopologies.add(subtopology);
        }
        return new Topology().setEpoch(Json.integer(node, "epoch")).setSubtopologies(subtopologies);
    }

    private static List<TopicInfo> topicInfos(JsonNode node, String name) {
        List<TopicInfo> infos = new ArrayList<>();
        for (JsonNode item : Json.list(node, name)) {
            Json.onlyFields(item, Set.of("name", "partitions"));
            infos.add(new TopicInfo()
                .setName(Json.string(item, "name"))
                .setPartitions(item.has("partitions") ? Json.integer(item, "partitions") : 0));
        }
        return infos;
    }

    private List<TaskIds> tasks(JsonNode node, String role) {
        if (!node.has(role)) return joins() ? List.of() : null;
        List<TaskIds> list = new ArrayList<>();
        for (JsonNode item : Json.list(node, role)) {
            Json.onlyFields(item, Set.of("subtopology", "partitions"));
            list.add(taskIds(Json.string(item, "subtopology"), Json.integers(item.get("partitions"), "partitions")));
        }
        return list;
    }

    private static TaskIds taskIds(String subtopology, List<Integer> partitions) {
        return new TaskIds().setSubtopologyId(subtopology).setPartitions(partitions);
    }

    private List<TaskIds> owned(int role) {
        if (!tasksLast.get(role)) return tasks.get(role);
        List<TaskIds> list = new ArrayList<>();
        member.assignment(role).forEach((subtopology, partitions) -> list.add(taskIds(subtopology, partitions)));
        return list;
    }

    @Override
    ApiMessage request() {
        return new StreamsGroupHeartbeatRequestData()
            .setGroupId(group)
            .setMemberId(memberId)
            .setMemberEpoch(epoch())
            .setInstanceId(instance)
            .setRackId(rack)
            .setRebalanceTimeoutMs(rebalanceTimeoutMs)
            .setTopology(topology)
            .setProcessId(processId)
            .setActiveTasks(owned(0))
            .setStandbyTasks(owned(1))
            .setWarmupTasks(owned(2));
    }

    @Override
    CompletableFuture<?> send(GroupCoordinatorService service, ApiMessage request) {
        return service.streamsGroupHeartbeat(context, (StreamsGroupHeartbeatRequestData) request);
    }

    @Override
    Answer answer(Object response) {
        StreamsGroupHeartbeatResponseData data = ((StreamsGroupHeartbeatResult) response).data();
        List<Map<String, List<Integer>>> assignment = null;
        if (data.activeTasks() != null) {
            assignment = List.of(bySubtopology(data.activeTasks()), bySubtopology(data.standbyTasks()), bySubtopology(data.warmupTasks()));
        }
        return new Answer(data.errorCode(), data.memberEpoch(), assignment);
    }

    private static Map<String, List<Integer>> bySubtopology(List<StreamsGroupHeartbeatResponseData.TaskIds> tasks) {
        Map<String, List<Integer>> map = new LinkedHashMap<>();
        if (tasks != null) tasks.forEach(task -> map.put(task.subtopologyId(), task.partitions()));
        return map;
    }
}
