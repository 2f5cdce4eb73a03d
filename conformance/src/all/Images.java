package coordsim.conformance;

import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;

import java.util.List;

/** The cluster metadata: Kafka's own images, one after another. */
final class Images {
    private MetadataImage image = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build().apply(Provenance.of(0));
    private MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
    /** The version of the image is the number of images so far. */
    private long version;

    MetadataImage image() {
        return image;
    }

    /** What leads from the image before to this one. */
    MetadataDelta delta() {
        return delta;
    }

    void next(List<ApiMessage> changes) {
        delta = new MetadataDelta.Builder().setImage(image).build();
        changes.forEach(delta::replay);
        version++;
        image = delta.apply(Provenance.of(version));
    }
}
