package coordsim.conformance;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The command line; `../../replay` names the Kafka version by the class path. */
public final class Main {
    private static final String USAGE = """
        usage: replay VERSION [--no-topic-cache] TRACE                outcomes to standard output
               replay VERSION [--no-topic-cache] --into NAME TRACE…   the outcomes of each trace into the file NAME beside it
               replay VERSION [--no-topic-cache] --serve              a server on standard input and output: see README.md
               replay VERSION [--no-topic-cache] --heap …             as the two above, but what the shard holds in the end, by
                                                                      component and class
               replay VERSION [--no-topic-cache] --bench N [--from MS] TRACE
                                                                      N timed replays; events at or after MS count""";

    private boolean withoutTopicCache;
    private boolean serve;
    private boolean heap;
    private String into;
    private int benchRuns;
    private long benchFromMs;
    private final List<Path> traces = new ArrayList<>();

    private Main() {
    }

    public static void main(String[] args) throws Exception {
        Main main = new Main();
        int code;
        try {
            main.parse(args);
            code = main.run();
        } catch (IllegalArgumentException e) {
            System.err.println("replay: " + e.getMessage() + "\n" + USAGE);
            code = BadTrace.MALFORMED;
        } catch (BadTrace e) {
            System.err.println(main.traces.get(0) + ": " + e.getMessage());
            code = e.code;
        } catch (NoSuchFileException e) {
            System.err.println("replay: there is no file " + e.getMessage());
            code = BadTrace.MALFORMED;
        }
        System.exit(code);
    }

    private void parse(String[] args) {
        for (int i = 0; i < args.length; i++) {
            boolean hasValue = i + 1 < args.length;
            switch (args[i]) {
                case "--no-topic-cache" -> withoutTopicCache = true;
                case "--serve" -> serve = true;
                case "--heap" -> heap = true;
                case "--into" -> into = hasValue ? args[++i] : null;
                case "--bench" -> benchRuns = hasValue ? Integer.parseInt(args[++i]) : 0;
                case "--from" -> benchFromMs = hasValue ? Long.parseLong(args[++i]) : 0;
                default -> {
                    if (args[i].startsWith("--")) throw new IllegalArgumentException("unknown option " + args[i]);
                    traces.add(Path.of(args[i]));
                }
            }
        }
        boolean many = serve || into != null;
        if (serve ? !traces.isEmpty() : many ? traces.isEmpty() : traces.size() != 1) {
            throw new IllegalArgumentException("a trace is missing, or there is one too many");
        }
    }

    private int run() throws IOException, BadTrace {
        if (withoutTopicCache && !Features.HAS_TOPIC_HASHES) {
            System.err.println("replay: this version has no topic-hash cache to leave out");
            return BadTrace.UNSUPPORTED;
        }
        if (serve) {
            new Server(System.in, System.out, withoutTopicCache).run();
            return 0;
        }
        if (into != null) return runInto();
        Trace trace = Trace.parse(Files.readAllBytes(traces.get(0)));
        if (benchRuns > 0) {
            Measure.run(new Replay(trace, withoutTopicCache), benchRuns, benchFromMs);
            return 0;
        }
        System.out.write(outcomes(traces.get(0), trace));
        System.out.flush();
        return 0;
    }

    /** A trace that is refused does not keep the others from being replayed. */
    private int runInto() throws IOException {
        boolean malformed = false;
        boolean unsupported = false;
        for (Path path : traces) {
            try {
                Files.write(path.resolveSibling(into), outcomes(path, Trace.parse(Files.readAllBytes(path))));
            } catch (BadTrace e) {
                System.err.println(path + ": " + e.getMessage());
                malformed |= e.code == BadTrace.MALFORMED;
                unsupported |= e.code == BadTrace.UNSUPPORTED;
            }
        }
        return malformed ? BadTrace.MALFORMED : unsupported ? BadTrace.UNSUPPORTED : 0;
    }

    private byte[] outcomes(Path path, Trace trace) throws BadTrace {
        Set<String> seen = new HashSet<>(); // a timer that fails is tried again twice a second
        OutcomeWriter writer = new OutcomeWriter((index, error) -> {
            StackTraceElement[] stack = error.getStackTrace();
            if (!seen.add(error + (stack.length == 0 ? "" : stack[0].toString()))) return;
            System.err.println(path + ": line " + trace.events().get(index).line + ": the coordinator failed:");
            error.printStackTrace();
        });
        Replay replay = new Replay(trace, withoutTopicCache);
        if (heap) return replay.heap().getBytes(StandardCharsets.UTF_8);
        replay.run(writer);
        return writer.bytes();
    }
}
