package coordsim.conformance;

import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * What the coordinator wants done soon, but not now: the tasks of its executor (they resolve regular expressions), and those of the
 * service's timer, which it only uses with no delay, to initialise the state of share partitions. Runs when the replay says so.
 */
final class Background extends AbstractExecutorService implements Timer {
    private final Queue<Runnable> tasks = new ArrayDeque<>();

    /** Runs the next task; false if there is none. */
    boolean runNext() {
        Runnable task = tasks.poll();
        if (task == null) return false;
        task.run();
        return true;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    @Override
    public void add(TimerTask task) {
        if (task.delayMs != 0) throw new IllegalStateException("the service has set a timer of " + task.delayMs + " ms");
        tasks.add(task);
    }

    @Override
    public boolean advanceClock(long timeoutMs) {
        throw new UnsupportedOperationException("the replay runs the tasks");
    }

    @Override
    public int size() {
        return tasks.size();
    }

    @Override
    public void close() {
        tasks.clear();
    }

    @Override
    public void shutdown() {
        tasks.clear();
    }

    @Override
    public List<Runnable> shutdownNow() {
        tasks.clear();
        return List.of();
    }

    @Override
    public boolean isShutdown() {
        return false;
    }

    @Override
    public boolean isTerminated() {
        return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        return true;
    }
}
