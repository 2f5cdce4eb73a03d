package coordsim.conformance;

import org.apache.kafka.coordinator.group.runtime.CoordinatorEvent;
import org.apache.kafka.coordinator.group.runtime.CoordinatorEventProcessor;

/** {@link EventQueue} as the runtime of this version wants it. */
final class KafkaEvents implements CoordinatorEventProcessor {
    private final EventQueue queue;

    KafkaEvents(EventQueue queue) {
        this.queue = queue;
    }

    @Override
    public void enqueueFirst(CoordinatorEvent event) {
        queue.addFirst(event, event::run);
    }

    @Override
    public void enqueueLast(CoordinatorEvent event) {
        queue.addLast(event, event::run);
    }

    @Override
    public void close() {
    }
}
