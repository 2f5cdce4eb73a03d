package coordsim.conformance;

import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.utils.Utils;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What can only be had by reflection. */
final class Inside {
    private Inside() {
    }

    /** Calls the only constructor of a class. */
    static <T> T construct(Class<T> type, Object... arguments) {
        try {
            Constructor<?> constructor = type.getDeclaredConstructors()[0];
            constructor.setAccessible(true);
            return type.cast(constructor.newInstance(arguments));
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static Object field(Object object, String name) {
        return fieldIfThere(object, name).orElseThrow(() -> new IllegalStateException(object.getClass() + " has no " + name));
    }

    /** What a field of an object's class, or of a class that it extends, refers to; none if there is no such field or it is null. */
    static Optional<Object> fieldIfThere(Object object, String name) {
        for (Class<?> level = object.getClass(); level != null; level = level.getSuperclass()) {
            try {
                Field field = level.getDeclaredField(name);
                field.setAccessible(true);
                return Optional.ofNullable(field.get(object));
            } catch (NoSuchFieldException e) {
                continue;
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
        return Optional.empty();
    }

    static Object call(Object object, String name, Object... arguments) {
        try {
            Class<?>[] types = new Class<?>[arguments.length];
            for (int i = 0; i < types.length; i++) types[i] = arguments[i].getClass();
            Method method = object.getClass().getMethod(name, types);
            method.setAccessible(true);
            return method.invoke(object, arguments);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The texts of the constants of a class whose names end so. */
    static List<String> constants(Class<?> type, String suffix) {
        List<String> texts = new ArrayList<>();
        try {
            for (Field field : type.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) || field.getType() != String.class) continue;
                if (!field.getName().endsWith(suffix)) continue;
                field.setAccessible(true);
                texts.add((String) field.get(null));
            }
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
        return texts;
    }

    /** A broker configuration of all that these classes define; names that none of them knows are ignored. */
    static AbstractConfig config(Map<String, String> properties, Class<?>... classes) {
        List<ConfigDef> definitions = new ArrayList<>();
        Set<String> defined = new HashSet<>();
        try {
            for (Class<?> type : classes) {
                for (Field field : type.getFields()) {
                    if (!Modifier.isStatic(field.getModifiers()) || field.getType() != ConfigDef.class) continue;
                    ConfigDef definition = (ConfigDef) field.get(null);
                    // A class may name one definition twice.
                    if (defined.addAll(definition.names())) definitions.add(definition);
                }
            }
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
        return new AbstractConfig(Utils.mergeConfigs(definitions), properties, false);
    }
}
