package coordsim.conformance;

/** A line that this Kafka version cannot replay, although it may be a good line. */
final class Unsupported extends RuntimeException {
    Unsupported(String message) {
        super(message);
    }
}
