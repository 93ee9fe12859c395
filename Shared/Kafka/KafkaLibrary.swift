/// The librdkafka that this process runs with.
public enum KafkaLibrary {
    /// The version in words: `2.8.0`.
    public static var version: String { RDKafkaVersion.running.description }

    /// Refuses a librdkafka older than 2.2, which misreads tagged fields of newer brokers.
    ///
    /// - Throws: ``KafkaError/Code/unsupportedVersion``, naming both versions.
    public static func requireSupportedVersion() throws(KafkaError) {
        try RDKafkaVersion.running.requireSupported()
    }
}
