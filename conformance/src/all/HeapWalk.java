package coordsim.conformance;

import org.openjdk.jol.vm.VM;

import java.lang.ref.Reference;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Counts objects by component and class; sizes are JOL's, of this JVM. Every object belongs to the first component that reaches it, so
 * that what several share counts once. JOL's own GraphLayout would not do: from a group it walks on into the snapshot registry, the
 * metrics and the whole process.
 */
final class HeapWalk {
    /** Where a walk ends: parts of the process that are not a shard's state. */
    private static final List<String> OUTSIDE = List.of(
        "org.apache.kafka.common.metrics.", "com.yammer.", "org.slf4j.", "org.apache.kafka.common.utils.LogContext", "org.apache.kafka.common.utils.internals.LogContext",
        "org.apache.kafka.coordinator.group.metrics.", "org.apache.kafka.coordinator.group.GroupMetadataManager",
        "org.apache.kafka.coordinator.group.GroupConfigManager", "org.apache.kafka.image.", "coordsim.",
        "org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage",
        "org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataImage",
        "org.apache.kafka.coordinator.common.runtime.CoordinatorTimerImpl",
        "org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime",
        "org.apache.kafka.coordinator.group.runtime.CoordinatorRuntime",
        "org.apache.kafka.timeline.SnapshotRegistry");
    /** A timer's task, though it is an anonymous class of such a part. */
    private static final Pattern TASK = Pattern.compile(".*Timer(Impl)?\\$\\d+");

    record Total(long objects, long bytes) {
    }

    private record Key(String component, String type) implements Comparable<Key> {
        @Override
        public int compareTo(Key other) {
            int order = component.compareTo(other.component);
            return order == 0 ? type.compareTo(other.type) : order;
        }
    }

    /** Seen objects; those that are not to be counted at all are here from the beginning. */
    private final IdentityHashMap<Object, Boolean> seen = new IdentityHashMap<>();
    /** The roots of components that are still to be walked: no other component goes beyond them. */
    private final IdentityHashMap<Object, String> roots = new IdentityHashMap<>();
    private final Map<Class<?>, List<Field>> fields = new HashMap<>();
    private final TreeMap<Key, Total> totals = new TreeMap<>();

    /** Everything that can be reached from an object belongs to somebody else. */
    void exclude(Object object) {
        walk(List.of(object), null, true);
    }

    /** A component begins at this object. */
    void root(String component, Object object) {
        if (object != null) roots.putIfAbsent(object, component);
    }

    /** The classes of what has been counted. */
    Stream<Class<?>> types() {
        return seen.keySet().stream().<Class<?>>map(Object::getClass).distinct();
    }

    /** Counts what belongs to a component. */
    void count(String component) {
        List<Object> own = new ArrayList<>();
        roots.forEach((object, owner) -> {
            if (owner.equals(component)) own.add(object);
        });
        walk(own, component, false);
    }

    /** One line for each component and class. */
    String csv() {
        StringBuilder out = new StringBuilder("component,class,objects,bytes\n");
        totals.forEach((key, total) -> out.append(key.component).append(',').append(key.type).append(',')
            .append(total.objects).append(',').append(total.bytes).append('\n'));
        return out.toString();
    }

    private void walk(Collection<Object> from, String component, boolean beyond) {
        Deque<Object> open = new ArrayDeque<>(from);
        while (!open.isEmpty()) {
            Object object = open.poll();
            String owner = roots.get(object);
            if (owner != null && !owner.equals(component)) continue;
            if (!beyond && owner == null && isOutside(object) || seen.put(object, true) != null) continue;
            if (component != null) add(component, object);
            for (Object next : references(object)) if (next != null) open.add(next);
        }
    }

    private void add(String component, Object object) {
        String name = object.getClass().getTypeName();
        int lambda = name.indexOf("$$Lambda");
        String type = lambda < 0 ? name : name.substring(0, lambda) + "$$Lambda";
        totals.merge(new Key(component, type), new Total(1, VM.current().sizeOf(object)),
            (a, b) -> new Total(a.objects + b.objects, a.bytes + b.bytes));
    }

    private static boolean isOutside(Object object) {
        if (object instanceof Class || object instanceof Enum || object instanceof ClassLoader || object instanceof Thread) return true;
        if (object instanceof String text && text.isEmpty() || object instanceof Boolean) return true;
        // Boxes that the JVM caches.
        if (object instanceof Integer number && number >= -128 && number <= 127) return true;
        if (object instanceof Long number && number >= -128 && number <= 127) return true;
        String name = object.getClass().getName();
        if (name.contains("$$Lambda") || TASK.matcher(name).matches()) return false;
        return OUTSIDE.stream().anyMatch(name::startsWith);
    }

    /** What an object refers to; a weak reference refers to nothing. */
    private List<Object> references(Object object) {
        List<Object> found = new ArrayList<>();
        Class<?> type = object.getClass();
        if (type.isArray()) {
            if (type.getComponentType().isPrimitive()) return found;
            for (int i = 0; i < Array.getLength(object); i++) found.add(Array.get(object, i));
            return found;
        }
        if (object instanceof Reference) return found;
        try {
            for (Field field : fields.computeIfAbsent(type, this::fieldsOf)) found.add(field.get(object));
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
        return found;
    }

    private List<Field> fieldsOf(Class<?> type) {
        List<Field> found = new ArrayList<>();
        for (Class<?> level = type; level != null; level = level.getSuperclass()) {
            for (Field field : level.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) || field.getType().isPrimitive()) continue;
                field.setAccessible(true);
                found.add(field);
            }
        }
        return found;
    }

    /** What the static fields of a class hold belongs to nobody. */
    void excludeStatics(Class<?> type) {
        for (Field field : type.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers()) || field.getType().isPrimitive()) continue;
            try {
                field.setAccessible(true);
                Object value = field.get(null);
                if (value != null && !(value instanceof Class) && !(value instanceof ClassLoader)) exclude(value);
            } catch (ReflectiveOperationException | RuntimeException e) {
                throw new IllegalStateException(type + "." + field.getName(), e);
            }
        }
    }
}
