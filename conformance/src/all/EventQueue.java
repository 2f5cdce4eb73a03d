package coordsim.conformance;

import java.lang.reflect.Field;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;

import org.apache.kafka.common.errors.CoordinatorLoadInProgressException;
import org.apache.kafka.common.errors.NotCoordinatorException;

/**
 * The runtime's event queue, run by whoever enqueues. It sees every event of the runtime, and so what comes of each write operation,
 * those of timers and background tasks included, which tell nobody.
 */
final class EventQueue {
    private record Event(Object event, Runnable run) {
    }

    private final Log log;
    private final Deque<Event> queue = new ArrayDeque<>();
    private boolean running;
    private boolean observing;
    private Runnable beforeEach = () -> { };
    private List<Outcome> outcomes = new ArrayList<>();
    private Field future;

    EventQueue(Log log) {
        this.log = log;
    }

    /** From now on, {@link #takeOutcomes} has something to give. */
    void observe() {
        observing = true;
    }

    /** Done before each event. */
    void beforeEach(Runnable action) {
        beforeEach = action;
    }

    void addFirst(Object event, Runnable run) {
        queue.addFirst(new Event(event, run));
        drain();
    }

    void addLast(Object event, Runnable run) {
        queue.addLast(new Event(event, run));
        drain();
    }

    /** What came of the write operations since the last call, in order. */
    List<Outcome> takeOutcomes() {
        if (outcomes.isEmpty()) return List.of();
        List<Outcome> taken = outcomes;
        outcomes = new ArrayList<>();
        return taken;
    }

    private void drain() {
        if (running) return;
        running = true;
        try {
            for (Event next; (next = queue.poll()) != null;) {
                beforeEach.run();
                if (observing && next.event.getClass().getSimpleName().equals("CoordinatorWriteEvent")) observe(next);
                else next.run.run();
            }
        } finally {
            running = false;
        }
    }

    private void observe(Event write) {
        Outcome outcome = new Outcome();
        futureOf(write.event).whenComplete((response, error) -> outcome.error = unwrapped(error));
        log.writeInto(outcome.records);
        write.run.run();
        outcomes.add(outcome);
    }

    /** CoordinatorRuntime.CoordinatorWriteEvent has it as a field of this name in every version. */
    private CompletableFuture<?> futureOf(Object event) {
        try {
            if (future == null) {
                future = event.getClass().getDeclaredField("future");
                future.setAccessible(true);
            }
            return (CompletableFuture<?>) future.get(event);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Throwable unwrapped(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }

    /** Whether the operation was called off, or the coordinator not there: then nobody hears of it in Kafka either. */
    static boolean isDropped(Throwable error) {
        return error instanceof RejectedExecutionException
            || error instanceof NotCoordinatorException
            || error instanceof CoordinatorLoadInProgressException;
    }
}
