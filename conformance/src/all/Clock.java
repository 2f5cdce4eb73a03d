package coordsim.conformance;

import org.apache.kafka.common.utils.Time;

import java.util.function.Supplier;

/** The coordinator's clock. It stands still until the replay moves it. */
final class Clock implements Time {
    long nowMs;

    @Override
    public long milliseconds() {
        return nowMs;
    }

    @Override
    public long hiResClockMs() {
        return nowMs;
    }

    @Override
    public long nanoseconds() {
        return nowMs * 1_000_000;
    }

    @Override
    public void sleep(long ms) {
        throw new UnsupportedOperationException("the coordinator does not sleep");
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException("the coordinator does not wait");
    }
}
