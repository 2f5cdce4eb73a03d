package coordsim.conformance;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Compares what `DumpLogSegments --offsets-decoder` prints of the segments of a partition with what it prints of the records that outcomes
 * list; these are put into a segment by Kafka's own classes. See `../../dump-log`.
 */
public final class Dump {
    private static final Pattern BATCH = Pattern.compile("baseOffset: .* isvalid: true");
    private static final Pattern RECORD = Pattern.compile("\\| offset: \\d+ .*?(keySize: .*? valueSize: .*?) sequence: .*? (key: .*)");
    /** A key that was decoded, with a value that was decoded or with a tombstone; offsets of consumers are of type 1. */
    private static final Pattern DECODED = Pattern.compile(".*key: \\{\"type\":\"(\\d+)\".*} payload: (\\{\"version\".*}|<DELETE>)");
    /** What the tool says of a segment whose first offset is not 0; of a log that has been cleaned also with other offsets. */
    private static final Pattern GAP = Pattern.compile("Non-consecutive offsets in .*| {2}(-?\\d+) is followed by \\d+");
    private static final Pattern LISTED = Pattern.compile("\"key\":\"([0-9a-f]*)\",\"value\":(?:\"([0-9a-f]*)\"|null)");

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final ByteArrayOutputStream complaints = new ByteArrayOutputStream();
    private int partitions;
    private int segments;
    private int records;
    private int offsets;
    private int missing;

    public static void main(String[] args) throws Exception {
        if (args.length < 3) {
            System.err.println("usage: Dump whole|cleaned WORK (PARTITION OUTCOMES)…");
            System.exit(2);
        }
        PrintStream out = System.out;
        Dump dump = new Dump();
        System.setOut(new PrintStream(dump.printed, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(dump.complaints, true, StandardCharsets.UTF_8));
        int failed = 0;
        for (int i = 2; i + 1 < args.length; i += 2) {
            String problem;
            try {
                problem = dump.check(Path.of(args[i]), Path.of(args[i + 1]), Path.of(args[1]), args[0].equals("whole"));
            } catch (IllegalStateException e) {
                problem = e.getMessage();
            }
            if (problem == null) continue;
            out.println(args[i] + ": " + problem);
            failed++;
        }
        out.println(dump.summary());
        out.flush();
        System.exit(failed == 0 ? 0 : 1);
    }

    private String summary() {
        return partitions + " partitions, " + segments + " segments, " + records + " records and " + offsets + " offsets; "
            + missing + " records cleaned away";
    }

    /** What is wrong with a partition, or null. */
    private String check(Path partition, Path outcomes, Path work, boolean isWhole) throws Exception {
        List<Path> files;
        try (Stream<Path> entries = Files.list(partition)) {
            files = entries.filter(path -> path.toString().endsWith(".log")).sorted().toList();
        }
        List<String> found = dump(files, isWhole);
        Path segment = work.resolve("00000000000000000000.log");
        writeSegment(outcomes, segment);
        List<String> listed = dump(List.of(segment), true);
        Files.delete(segment);
        partitions++;
        segments += files.size();
        records += found.size();
        missing += listed.size() - found.size();
        int next = 0;
        for (String record : found) {
            int at = listed.subList(next, listed.size()).indexOf(record);
            if (at < 0 || isWhole && at > 0) return "is not what was listed, or not there: " + record;
            next += at + 1;
        }
        return isWhole && next < listed.size() ? "missing: " + listed.get(next) : null;
    }

    /** The records that the tool prints, without offsets and times, of which outcomes know nothing. Offsets of consumers are only counted. */
    private List<String> dump(List<Path> files, boolean isWhole) throws Exception {
        printed.reset();
        complaints.reset();
        KafkaDump.run("--offsets-decoder", "--files", String.join(",", files.stream().map(Path::toString).toList()));
        for (String line : complaints.toString(StandardCharsets.UTF_8).split("\n")) {
            Matcher gap = GAP.matcher(line);
            boolean isKnown = line.isEmpty() || gap.matches() && (!isWhole || gap.group(1) == null || gap.group(1).equals("-1"));
            if (!isKnown) throw new IllegalStateException("the tool says: " + line);
        }
        List<String> found = new ArrayList<>();
        for (String line : printed.toString(StandardCharsets.UTF_8).split("\n")) {
            Matcher record = RECORD.matcher(line);
            if (record.matches()) {
                String text = record.group(1) + " " + record.group(2);
                Matcher decoded = DECODED.matcher(text);
                if (!decoded.matches()) throw new IllegalStateException("not decoded: " + line);
                if (decoded.group(1).equals("1")) offsets++;
                else found.add(text);
            } else if (!BATCH.matcher(line).matches() && !line.startsWith("Dumping ") && !line.startsWith("Log starting offset: ")) {
                throw new IllegalStateException("the tool says: " + line);
            }
        }
        return found;
    }

    /** A segment with all records of outcomes, each in a batch of its own. */
    private static void writeSegment(Path outcomes, Path segment) throws IOException {
        long offset = 0;
        try (OutputStream out = Files.newOutputStream(segment)) {
            for (String line : Files.readAllLines(outcomes)) {
                for (Matcher record = LISTED.matcher(line); record.find(); offset++) {
                    byte[] value = record.group(2) == null ? null : HexFormat.of().parseHex(record.group(2));
                    ByteBuffer batch = KafkaDump.batch(offset, HexFormat.of().parseHex(record.group(1)), value);
                    out.write(batch.array(), batch.arrayOffset() + batch.position(), batch.remaining());
                }
            }
        }
    }
}
