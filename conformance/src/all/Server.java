package coordsim.conformance;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Replays one trace after another for a program at the other end of a pipe.
 *
 * <p>A request is a line {@code trace N} and N bytes of a trace, or a line {@code file PATH}. It is answered, in order, with a line
 * {@code outcomes N} and N bytes of outcomes, or with {@code refused CODE N} and N bytes of a message: CODE 2 for a bad trace, 3 for
 * one that this version cannot replay, 1 if the replay itself broke. Answers are flushed one by one. The input's end is the end.
 */
final class Server {
    private static final int BROKEN = 1;
    private static final int LONGEST_LINE_BYTES = 1 << 16;

    private final InputStream in;
    private final OutputStream out;
    private final boolean withoutTopicCache;

    Server(InputStream in, OutputStream out, boolean withoutTopicCache) {
        this.in = new BufferedInputStream(in, 1 << 16);
        this.out = new BufferedOutputStream(out, 1 << 16);
        this.withoutTopicCache = withoutTopicCache;
    }

    void run() throws IOException {
        for (String request; (request = readLine()) != null;) {
            String[] words = request.split(" ", 2);
            if (words.length == 2 && words[0].equals("trace")) {
                int length = Integer.parseInt(words[1]);
                byte[] bytes = in.readNBytes(length);
                if (bytes.length < length) throw new EOFException("the input ended within a trace");
                answer(bytes);
            } else if (words.length == 2 && words[0].equals("file")) {
                byte[] bytes;
                try {
                    bytes = Files.readAllBytes(Path.of(words[1]));
                } catch (IOException e) {
                    refuse(BadTrace.MALFORMED, "cannot be read: " + words[1]);
                    continue;
                }
                answer(bytes);
            } else {
                throw new IllegalArgumentException("a request must be like `trace N` or `file PATH`, not `" + request + "`");
            }
        }
    }

    private void answer(byte[] bytes) throws IOException {
        try {
            OutcomeWriter writer = new OutcomeWriter((index, error) -> { });
            new Replay(Trace.parse(bytes), withoutTopicCache).run(writer);
            frame("outcomes ", writer.bytes());
        } catch (BadTrace e) {
            refuse(e.code, e.getMessage());
        } catch (RuntimeException | StackOverflowError e) {
            e.printStackTrace();
            refuse(BROKEN, e.toString());
        }
    }

    private void refuse(int code, String message) throws IOException {
        frame("refused " + code + " ", message.getBytes(StandardCharsets.UTF_8));
    }

    private void frame(String head, byte[] body) throws IOException {
        out.write((head + body.length + "\n").getBytes(StandardCharsets.UTF_8));
        out.write(body);
        out.flush();
    }

    /** Null at the end of the input. */
    private String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b; (b = in.read()) != '\n';) {
            if (b < 0) {
                if (line.size() == 0) return null;
                throw new EOFException("the input ended within a line");
            }
            if (line.size() == LONGEST_LINE_BYTES) throw new IOException("a request is longer than " + LONGEST_LINE_BYTES + " bytes");
            line.write(b);
        }
        return line.toString(StandardCharsets.UTF_8);
    }
}
