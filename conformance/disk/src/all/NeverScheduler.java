package coordsim.conformance;

import org.apache.kafka.server.util.Scheduler;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Does nothing that it is asked to do later: deleting the files that a cleaning has replaced, flushing. */
final class NeverScheduler implements Scheduler {
    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();

    @Override
    public void startup() {
    }

    @Override
    public void shutdown() {
        executor.shutdownNow();
    }

    @Override
    public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
        return executor.schedule(() -> { }, 1, TimeUnit.DAYS);
    }

    @Override
    public void resizeThreadPool(int newSize) {
    }
}
