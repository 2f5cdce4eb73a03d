package coordsim.conformance;

import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimerTaskEntry;

import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * The timer beneath the coordinator's: it fires when the replay says so, by deadline, and at one deadline in the order in which the
 * tasks came. Kafka's SystemTimer has buckets of a millisecond and a thread, and its MockTimer keeps no order at one deadline.
 */
final class Timers implements Timer {
    private record Scheduled(TimerTaskEntry entry, long sequence) {
    }

    private final Clock clock;
    private final PriorityQueue<Scheduled> queue = new PriorityQueue<>(
        Comparator.comparingLong((Scheduled scheduled) -> scheduled.entry.expirationMs).thenComparingLong(Scheduled::sequence));
    private long sequence;

    Timers(Clock clock) {
        this.clock = clock;
    }

    @Override
    public void add(TimerTask task) {
        queue.add(new Scheduled(new TimerTaskEntry(task, clock.nowMs + task.delayMs), sequence++));
    }

    /** When the next task is due; Long.MAX_VALUE if there is none. */
    long nextDeadlineMs() {
        while (!queue.isEmpty() && queue.peek().entry.cancelled()) queue.poll();
        return queue.isEmpty() ? Long.MAX_VALUE : queue.peek().entry.expirationMs;
    }

    /** Fires the task that {@link #nextDeadlineMs} told of. */
    void fireNext() {
        queue.poll().entry.timerTask.run();
    }

    @Override
    public boolean advanceClock(long timeoutMs) {
        throw new UnsupportedOperationException("the replay fires the timers");
    }

    @Override
    public int size() {
        return queue.size();
    }

    @Override
    public void close() {
        queue.clear();
    }
}
