package coordsim.conformance;

/** A trace that is not replayed, and the exit code that says why. */
final class BadTrace extends Exception {
    /** It is not a trace, or its configuration is one that Kafka rejects. */
    static final int MALFORMED = 2;
    /** It needs what this Kafka version does not have. */
    static final int UNSUPPORTED = 3;

    final int code;

    BadTrace(int code, int line, String message) {
        super("line " + line + ": " + message);
        this.code = code;
    }
}
