package coordsim.conformance;

import com.fasterxml.jackson.databind.JsonNode;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.RemoveTopicRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.metadata.UnregisterBrokerRecord;
import org.apache.kafka.common.protocol.ApiMessage;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** Turns the changes of a trace into the metadata records that a controller would write for them. */
final class MetadataChanges {
    private static final class Topic {
        final Uuid id;
        int partitions;

        Topic(Uuid id) {
            this.id = id;
        }
    }

    private long lastBrokerEpoch;
    private final Map<Integer, Long> brokerEpochs = new HashMap<>();
    private final Map<String, Topic> topics = new HashMap<>();

    /** The records of one `metadata` event. */
    List<ApiMessage> records(JsonNode changes) {
        List<ApiMessage> records = new ArrayList<>();
        for (JsonNode change : changes) {
            String op = Json.string(change, "op");
            switch (op) {
                case "broker" -> records.add(broker(change));
                case "broker_gone" -> records.add(brokerGone(change));
                case "topic" -> topic(change, records);
                case "partitions" -> {
                    Json.onlyFields(change, Set.of("op", "topic", "replicas"));
                    partitions(topicOf(change), change, records);
                }
                case "partition" -> records.add(partition(change));
                case "delete_topic" -> {
                    Json.onlyFields(change, Set.of("op", "topic"));
                    records.add(new RemoveTopicRecord().setTopicId(topicOf(change).id));
                    topics.remove(Json.string(change, "topic"));
                }
                default -> throw new IllegalArgumentException("unknown op " + op);
            }
        }
        return records;
    }

    private ApiMessage broker(JsonNode change) {
        Json.onlyFields(change, Set.of("op", "id", "rack"));
        int id = Json.integer(change, "id");
        lastBrokerEpoch++;
        brokerEpochs.put(id, lastBrokerEpoch);
        return new RegisterBrokerRecord()
            .setBrokerId(id)
            .setBrokerEpoch(lastBrokerEpoch)
            .setIncarnationId(new Uuid(1, lastBrokerEpoch))
            .setFenced(false)
            .setRack(Json.stringOrNull(change, "rack"));
    }

    private ApiMessage brokerGone(JsonNode change) {
        Json.onlyFields(change, Set.of("op", "id"));
        int id = Json.integer(change, "id");
        Long epoch = brokerEpochs.remove(id);
        if (epoch == null) throw new IllegalArgumentException("there is no broker " + id);
        return new UnregisterBrokerRecord().setBrokerId(id).setBrokerEpoch(epoch);
    }

    private void topic(JsonNode change, List<ApiMessage> records) {
        Json.onlyFields(change, Set.of("op", "name", "id", "replicas"));
        String name = Json.string(change, "name");
        Topic topic = new Topic(Uuid.fromString(Json.string(change, "id")));
        if (topics.putIfAbsent(name, topic) != null) throw new IllegalArgumentException("there is a topic " + name + " already");
        records.add(new TopicRecord().setName(name).setTopicId(topic.id));
        partitions(topic, change, records);
    }

    private static void partitions(Topic topic, JsonNode change, List<ApiMessage> records) {
        for (JsonNode list : Json.list(change, "replicas")) {
            List<Integer> replicas = Json.integers(list, "replicas");
            records.add(new PartitionRecord()
                .setTopicId(topic.id)
                .setPartitionId(topic.partitions)
                .setReplicas(replicas)
                .setIsr(replicas)
                .setDirectories(directories(replicas.size()))
                .setLeader(replicas.isEmpty() ? -1 : replicas.get(0))
                .setLeaderEpoch(0)
                .setPartitionEpoch(0));
            topic.partitions++;
        }
    }

    private ApiMessage partition(JsonNode change) {
        Json.onlyFields(change, Set.of("op", "topic", "partition", "replicas", "isr", "leader", "elr"));
        Topic topic = topicOf(change);
        int partition = Json.integer(change, "partition");
        if (partition < 0 || partition >= topic.partitions) throw new IllegalArgumentException("there is no partition " + partition);
        PartitionChangeRecord record = new PartitionChangeRecord().setTopicId(topic.id).setPartitionId(partition);
        if (change.has("replicas")) {
            List<Integer> replicas = Json.integers(change.get("replicas"), "replicas");
            record.setReplicas(replicas).setDirectories(directories(replicas.size()));
        }
        if (change.has("isr")) record.setIsr(Json.integers(change.get("isr"), "isr"));
        if (change.has("leader")) record.setLeader(Json.integer(change, "leader"));
        if (change.has("elr")) record.setEligibleLeaderReplicas(Json.integers(change.get("elr"), "elr"));
        return record;
    }

    private Topic topicOf(JsonNode change) {
        String name = Json.string(change, "topic");
        Topic topic = topics.get(name);
        if (topic == null) throw new IllegalArgumentException("there is no topic " + name);
        return topic;
    }

    /** One log directory for each replica: PartitionRegistration wants as many of them as there are replicas. */
    private static List<Uuid> directories(int replicas) {
        return IntStream.rangeClosed(1, replicas).mapToObj(n -> new Uuid(2, n)).toList();
    }
}
