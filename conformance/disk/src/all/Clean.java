package coordsim.conformance;

import org.apache.kafka.storage.internals.log.LogConfig;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Appends the batches of logs, each at its time, to real logs that a real cleaner cleans, and leaves these. The command line is that
 * of `coordsim clean-log`; `-` is for many such, a line each on standard input.
 */
public final class Clean {
    private static final String USAGE = "usage: clean-log VERSION IN --out OUT [--set NAME=VALUE]… [--more MS]";
    private static final int BASE_OFFSET_TO_LENGTH_BYTES = 8;
    private static final int LOG_OVERHEAD_BYTES = 12;
    private static final int MAX_TIMESTAMP_POSITION = 35;

    private final Map<String, String> settings = new HashMap<>();
    private long moreMs;

    public static void main(String[] args) throws Exception {
        if (args.length == 1 && args[0].equals("-")) {
            BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line; (line = commands.readLine()) != null; ) run(line.split(" "));
        } else {
            run(args);
        }
        System.exit(0);
    }

    private static void run(String[] args) throws Exception {
        Clean clean = new Clean();
        Path in = null;
        Path out = null;
        for (int i = 0; i < args.length; i++) {
            boolean hasValue = i + 1 < args.length;
            switch (args[i]) {
                case "--out" -> out = hasValue ? Path.of(args[++i]) : null;
                case "--more" -> clean.moreMs = hasValue ? Long.parseLong(args[++i]) : 0;
                case "--set" -> {
                    String[] setting = hasValue ? args[++i].split("=", 2) : new String[0];
                    if (setting.length == 2) clean.settings.put(setting[0], setting[1]);
                }
                default -> in = Path.of(args[i]);
            }
        }
        if (in == null || out == null) {
            System.err.println(USAGE);
            System.exit(2);
        }
        for (Path partition : list(in)) {
            clean.partition(partition, out.resolve(partition.getFileName()));
            Files.deleteIfExists(out.resolve("cleaner-offset-checkpoint"));
        }
    }

    /** What is in a folder, in the order of names. */
    private static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.sorted().toList();
        }
    }

    private void partition(Path in, Path out) throws Exception {
        List<ByteBuffer> batches = new ArrayList<>();
        for (Path file : list(in)) {
            if (file.toString().endsWith(".log")) split(ByteBuffer.wrap(Files.readAllBytes(file)), batches);
        }
        Files.createDirectories(out);
        if (batches.isEmpty()) return;
        long backoffMs = number("log.cleaner.backoff.ms", 15_000);
        long nextCheckMs = timeOf(batches.get(0)) + backoffMs;
        Clock clock = new Clock();
        clock.nowMs = timeOf(batches.get(0));
        try (KafkaStorage storage = new KafkaStorage(out.toFile(), config(), clock, dedupeBufferBytes(), loadFactor())) {
            for (ByteBuffer batch : batches) {
                nextCheckMs = check(storage, clock, nextCheckMs, timeOf(batch), backoffMs);
                clock.nowMs = timeOf(batch);
                storage.append(batch);
            }
            check(storage, clock, nextCheckMs, clock.nowMs + moreMs, backoffMs);
        }
        for (Path file : list(out)) {
            if (!file.toString().endsWith(".log")) Files.delete(file);
        }
    }

    private static void split(ByteBuffer segment, List<ByteBuffer> batches) {
        while (segment.hasRemaining()) {
            int length = segment.getInt(segment.position() + BASE_OFFSET_TO_LENGTH_BYTES) + LOG_OVERHEAD_BYTES;
            batches.add(segment.slice(segment.position(), length));
            segment.position(segment.position() + length);
        }
    }

    private static long timeOf(ByteBuffer batch) {
        return batch.getLong(MAX_TIMESTAMP_POSITION);
    }

    /** The cleaner's looks at the log until a time; gives the time of the next one. */
    private static long check(KafkaStorage storage, Clock clock, long nextMs, long untilMs, long backoffMs) throws Exception {
        for (; nextMs <= untilMs; nextMs += backoffMs) {
            clock.nowMs = nextMs;
            boolean cleaned;
            do {
                cleaned = storage.cleanFilthiest();
            } while (cleaned);
        }
        return nextMs;
    }

    private long number(String name, long otherwise) {
        return Long.parseLong(settings.getOrDefault(name, Long.toString(otherwise)));
    }

    private long dedupeBufferBytes() {
        return Math.min(number("log.cleaner.dedupe.buffer.size", 128 << 20) / number("log.cleaner.threads", 1), Integer.MAX_VALUE);
    }

    private double loadFactor() {
        return Double.parseDouble(settings.getOrDefault("log.cleaner.io.buffer.load.factor", "0.9"));
    }

    /** The topic's configuration, as `GroupCoordinatorService.groupMetadataTopicConfigs` has it. */
    private LogConfig config() {
        Map<String, String> config = new HashMap<>(Map.of("cleanup.policy", "compact", "segment.bytes", "104857600"));
        settings.forEach((name, value) -> {
            if (!name.startsWith("log.cleaner.")) config.put(name, value);
        });
        // From 4.0 on, users may not have segments of less than 1 MiB. Kafka's own tests may.
        if (LogConfig.configNames().contains("internal.segment.bytes")) config.put("internal.segment.bytes", config.remove("segment.bytes"));
        return new LogConfig(config);
    }
}
