package coordsim.conformance;

import java.util.Arrays;

/** What `--bench` measures: the time of the events at or after a time of the trace, heartbeats and others apart. */
final class Measure {
    private static final long WARM_UP_NANOS = 5_000_000_000L;
    private static final int WARM_UP_RUNS = 3;

    private final long fromMs;
    private long heartbeats;
    private long heartbeatNanos;
    private long others;
    private long otherNanos;

    private Measure(long fromMs) {
        this.fromMs = fromMs;
    }

    void add(Trace.Event event, long nanos) {
        if (event.t < fromMs) return;
        if (event.heartbeat != null) {
            heartbeats++;
            heartbeatNanos += nanos;
        } else {
            others++;
            otherNanos += nanos;
        }
    }

    /** Warms up, replays `runs` times, and prints one JSON line for all events, one for heartbeats and one for others. */
    static void run(Replay replay, int runs, long fromMs) throws BadTrace {
        long warmUntil = System.nanoTime() + WARM_UP_NANOS;
        for (int warm = 0; warm < WARM_UP_RUNS || System.nanoTime() < warmUntil; warm++) replay.run(new Measure(fromMs));
        double[] all = new double[runs];
        double[] heartbeat = new double[runs];
        double[] other = new double[runs];
        Measure measure = null;
        for (int run = 0; run < runs; run++) {
            measure = new Measure(fromMs);
            replay.run(measure);
            all[run] = (double) (measure.heartbeatNanos + measure.otherNanos) / (measure.heartbeats + measure.others);
            heartbeat[run] = (double) measure.heartbeatNanos / measure.heartbeats;
            other[run] = (double) measure.otherNanos / measure.others;
        }
        print("all", measure.heartbeats + measure.others, all);
        print("heartbeat", measure.heartbeats, heartbeat);
        print("other", measure.others, other);
    }

    private static void print(String what, long events, double[] nanosPerEvent) {
        if (events == 0) return;
        Arrays.sort(nanosPerEvent);
        double min = nanosPerEvent[0];
        double median = nanosPerEvent[nanosPerEvent.length / 2];
        System.out.printf("{\"what\":\"%s\",\"events\":%d,\"runs\":%d,\"ns_per_event_min\":%.0f,\"ns_per_event_median\":%.0f,"
            + "\"events_per_s_max\":%.0f,\"events_per_s_median\":%.0f}%n",
            what, events, nanosPerEvent.length, min, median, 1e9 / min, 1e9 / median);
    }
}
