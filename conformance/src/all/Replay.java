package coordsim.conformance;

import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;

import java.util.List;

/** Replays a trace on a coordinator of its own. */
final class Replay {
    private final Trace trace;
    private final boolean withoutTopicCache;

    private Coordinator coordinator;
    private Images images;
    /** Null while measuring. */
    private OutcomeWriter writer;
    private int index;

    Replay(Trace trace, boolean withoutTopicCache) {
        this.trace = trace;
        this.withoutTopicCache = withoutTopicCache;
    }

    /** Replays all of it; each outcome goes to `writer`. */
    void run(OutcomeWriter writer) throws BadTrace {
        start(true);
        this.writer = writer;
        writer.open(coordinator, trace.startUnixMs());
        coordinator.events.observe();
        for (Trace.Event event : trace.events()) {
            step(event, event.heartbeat == null ? null : event.heartbeat.request());
            index++;
        }
    }

    /** Replays all of it without output; `measure` is told how long each event has taken. */
    void run(Measure measure) throws BadTrace {
        start(trace.events().stream().anyMatch(event -> event.cause.equals("failover")));
        for (Trace.Event event : trace.events()) {
            ApiMessage request = event.heartbeat == null ? null : event.heartbeat.request();
            long start = System.nanoTime();
            step(event, request);
            measure.add(event, System.nanoTime() - start);
        }
    }

    /** Replays all of it; gives what the shard then holds in memory. */
    String heap() throws BadTrace {
        start(trace.events().stream().anyMatch(event -> event.cause.equals("failover")));
        for (Trace.Event event : trace.events()) {
            step(event, event.heartbeat == null ? null : Heap.received(event.heartbeat.request()));
        }
        return Heap.csv(coordinator, images);
    }

    private void start(boolean keepLog) throws BadTrace {
        trace.forget();
        images = new Images();
        index = 0;
        writer = null;
        try {
            coordinator = new KafkaCoordinator(trace.config(), keepLog, withoutTopicCache);
        } catch (KafkaException | IllegalArgumentException e) {
            throw new BadTrace(BadTrace.MALFORMED, 1, e.getMessage());
        }
        coordinator.clock.nowMs = trace.startUnixMs();
        coordinator.publish(images.delta(), images.image()); // the empty image, of version 0
        Throwable error = coordinator.load();
        if (error != null) throw new IllegalStateException("the empty shard cannot be loaded", error);
    }

    private void step(Trace.Event event, ApiMessage request) {
        long dueMs = trace.startUnixMs() + event.t;
        for (long deadlineMs; (deadlineMs = coordinator.timers.nextDeadlineMs()) <= dueMs;) {
            coordinator.clock.nowMs = Math.max(coordinator.clock.nowMs, deadlineMs);
            coordinator.timers.fireNext();
            sideEffects("timer");
            runBackground();
        }
        coordinator.clock.nowMs = dueMs;
        switch (event.cause) {
            case "metadata" -> {
                images.next(event.changes);
                coordinator.publish(images.delta(), images.image());
                if (writer != null) writer.plain(index, event.cause);
                sideEffects("background"); // what topics that are gone take with them
            }
            case "heartbeat" -> heartbeat(event, request);
            case "failover" -> {
                Throwable error = coordinator.load();
                coordinator.events.takeOutcomes();
                if (writer != null) writer.failover(index, error);
            }
            default -> {
                if (writer != null) writer.plain(index, event.cause);
            }
        }
        runBackground();
    }

    private void heartbeat(Trace.Event event, ApiMessage request) {
        Heartbeat heartbeat = event.heartbeat;
        // The service would check the request first; the trace format has one answer for all heartbeats to a shard that
        // could not be loaded.
        Answer answer = coordinator.isLoaded()
            ? heartbeat.answer(coordinator.heartbeat(heartbeat, request))
            : new Answer(Errors.NOT_COORDINATOR.code(), 0, null);
        heartbeat.member.hear(answer);
        if (writer == null) return;
        // Requests that the service's own checks turn down never become a write operation.
        List<Outcome> outcomes = coordinator.events.takeOutcomes();
        writer.heartbeat(index, heartbeat.group, answer, outcomes.isEmpty() ? new Outcome() : outcomes.get(0));
    }

    private void runBackground() {
        while (coordinator.background.runNext()) sideEffects("background");
    }

    /** Writes what nobody has asked for, if it had an effect. */
    private void sideEffects(String cause) {
        for (Outcome outcome : coordinator.events.takeOutcomes()) {
            if (EventQueue.isDropped(outcome.error)) continue;
            if (writer != null && (outcome.error != null || !outcome.records.isEmpty())) writer.sideEffect(index, cause, outcome);
        }
    }
}
