package coordsim.conformance;

import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A real broker on given `__consumer_offsets` partitions: KRaft, one node, loopback. It says `ready PORT` once it runs with them, and
 * ends when its standard input does. See `../../broker-loads`.
 */
public final class BrokerLoads {
    private static final String TOPIC = "__consumer_offsets";

    private final Path work;
    private final Path data;
    private final int port = freePort();
    private final Properties properties = new Properties();

    private BrokerLoads(Path work, boolean isOld) throws IOException {
        this.work = work;
        data = work.resolve("data");
        int controllerPort = freePort();
        Map.of(
            "node.id", "1",
            "process.roles", "broker,controller",
            "listeners", "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort,
            "advertised.listeners", "PLAINTEXT://127.0.0.1:" + port,
            "controller.listener.names", "CONTROLLER",
            "listener.security.protocol.map", "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "controller.quorum.voters", "1@127.0.0.1:" + controllerPort,
            "log.dirs", data.toString(),
            "auto.create.topics.enable", "false",
            "offsets.topic.replication.factor", "1"
        ).forEach(properties::put);
        // Nobody sends a heartbeat, and the groups must stay as they were loaded.
        for (String kind : List.of("consumer", "share", "streams")) {
            properties.put("group." + kind + ".session.timeout.ms", "3600000");
            properties.put("group." + kind + ".max.session.timeout.ms", "3600000");
        }
        properties.put("offsets.retention.check.interval.ms", "3600000");
        if (isOld) properties.put("group.coordinator.rebalance.protocols", "classic,consumer");
    }

    /** A port that was free a moment ago. */
    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 3) {
            System.err.println("usage: BrokerLoads VERSION LOGS WORK");
            System.exit(2);
        }
        new BrokerLoads(Path.of(args[2]), args[0].startsWith("3.")).run(partitions(Path.of(args[1])));
        System.exit(0);
    }

    /** The folders of partitions. */
    private static List<Path> partitions(Path logs) throws IOException {
        try (Stream<Path> entries = Files.list(logs)) {
            return entries.filter(path -> path.getFileName().toString().startsWith(TOPIC + "-")).toList();
        }
    }

    private void run(List<Path> partitions) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err); // what Kafka prints
        format();
        KafkaRaftServer first = start();
        try (Admin admin = admin()) {
            NewTopic topic = new NewTopic(TOPIC, partitions.size(), (short) 1)
                .configs(Map.of("cleanup.policy", "compact", "segment.bytes", "104857600"));
            admin.createTopics(List.of(topic)).all().get(60, TimeUnit.SECONDS);
            waitForFolders(partitions);
        }
        stop(first);
        swap(partitions);
        KafkaRaftServer second = start();
        out.println("ready " + port);
        out.flush();
        while (System.in.read() >= 0) { }
        stop(second);
    }

    private void format() throws IOException {
        Path file = work.resolve("server.properties");
        try (Writer writer = Files.newBufferedWriter(file)) {
            properties.store(writer, null);
        }
        String[] command = {"format", "--cluster-id", Uuid.randomUuid().toString(), "--config", file.toString()};
        if (StorageTool.execute(command, System.err) != 0) throw new IOException("the folder could not be formatted");
    }

    private KafkaRaftServer start() {
        KafkaRaftServer server = new KafkaRaftServer(new KafkaConfig(properties), Time.SYSTEM);
        server.startup();
        return server;
    }

    private static void stop(KafkaRaftServer server) {
        server.shutdown();
        server.awaitShutdown();
    }

    private Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + port));
    }

    /** The broker makes a partition's folder, and says there of which topic it is, when it becomes its leader. */
    private void waitForFolders(List<Path> partitions) throws InterruptedException {
        for (Path partition : partitions) {
            Path metadata = data.resolve(partition.getFileName()).resolve("partition.metadata");
            while (!Files.exists(metadata)) Thread.sleep(50);
        }
    }

    /** Puts the logs in place, with nothing left of what the broker knew of its own: it checks all of them. */
    private void swap(List<Path> partitions) throws IOException {
        for (Path partition : partitions) {
            Path folder = data.resolve(partition.getFileName());
            for (Path file : list(folder)) {
                if (!file.endsWith("partition.metadata")) Files.delete(file);
            }
            for (Path file : list(partition)) Files.copy(file, folder.resolve(file.getFileName()));
        }
        for (Path file : list(data)) {
            String name = file.getFileName().toString();
            if (name.endsWith("-checkpoint") || name.equals(".kafka_cleanshutdown")) Files.delete(file);
        }
    }

    private static List<Path> list(Path folder) {
        try (Stream<Path> entries = Files.list(folder)) {
            return new ArrayList<>(entries.toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
