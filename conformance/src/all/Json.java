package coordsim.conformance;

import com.fasterxml.jackson.databind.JsonNode;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;

/** Reads the fields of a trace strictly; every complaint is an {@link IllegalArgumentException}. */
final class Json {
    private Json() {
    }

    /** The object has no other fields than these. */
    static void onlyFields(JsonNode object, Collection<String> known) {
        if (!object.isObject()) throw new IllegalArgumentException("not an object: " + object);
        for (Iterator<String> names = object.fieldNames(); names.hasNext();) {
            String name = names.next();
            if (!known.contains(name)) throw new IllegalArgumentException("unknown field " + name);
        }
    }

    static String string(JsonNode object, String name) {
        JsonNode value = object.get(name);
        if (value == null || !value.isTextual()) throw new IllegalArgumentException(name + " must be a string");
        return value.textValue();
    }

    /** Null if the field is absent or null. */
    static String stringOrNull(JsonNode object, String name) {
        return object.hasNonNull(name) ? string(object, name) : null;
    }

    static int integer(JsonNode object, String name) {
        JsonNode value = object.get(name);
        if (value == null || !value.isIntegralNumber() || !value.canConvertToInt()) {
            throw new IllegalArgumentException(name + " must be an integer");
        }
        return value.intValue();
    }

    static long integer64(JsonNode object, String name) {
        JsonNode value = object.get(name);
        if (value == null || !value.isIntegralNumber() || !value.canConvertToLong()) {
            throw new IllegalArgumentException(name + " must be an integer");
        }
        return value.longValue();
    }

    static JsonNode list(JsonNode object, String name) {
        JsonNode value = object.get(name);
        if (value == null || !value.isArray()) throw new IllegalArgumentException(name + " must be a list");
        return value;
    }

    static List<Integer> integers(JsonNode list, String name) {
        if (list == null || !list.isArray()) throw new IllegalArgumentException(name + " must be a list of integers");
        List<Integer> integers = new ArrayList<>(list.size());
        for (JsonNode item : list) {
            if (!item.isIntegralNumber() || !item.canConvertToInt()) {
                throw new IllegalArgumentException(name + " must be a list of integers");
            }
            integers.add(item.intValue());
        }
        return integers;
    }

    /** Null if the field is absent or null. */
    static List<String> stringsOrNull(JsonNode object, String name) {
        if (!object.hasNonNull(name)) return null;
        List<String> strings = new ArrayList<>();
        for (JsonNode item : list(object, name)) {
            if (!item.isTextual()) throw new IllegalArgumentException(name + " must be a list of strings");
            strings.add(item.textValue());
        }
        return strings;
    }

    /** Whether the field is the word "last"; another word is an error. */
    static boolean isLast(JsonNode object, String name) {
        JsonNode value = object.get(name);
        if (value == null || !value.isTextual()) return false;
        if (!value.textValue().equals("last")) {
            throw new IllegalArgumentException(name + " has the unknown word " + value.textValue());
        }
        return true;
    }
}
