package coordsim.conformance;

import org.apache.kafka.image.MetadataProvenance;

/** Where an image is from. */
final class Provenance {
    private Provenance() {
    }

    static MetadataProvenance of(long version) {
        return new MetadataProvenance(version, 0, version, true);
    }
}
