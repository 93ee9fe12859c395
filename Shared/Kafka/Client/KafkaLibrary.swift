/// The librdkafka that this process runs with.
public enum KafkaLibrary {
    /// The version in words: `2.14.2`.
    public static var version: String { RDKafkaVersion.running.description }

    /// Refuses a librdkafka older than 2.10.
    ///
    /// Older ones misread newer brokers' answers, cannot log in to Kafka 4 by SCRAM, or crash when a
    /// topic is made again.
    ///
    /// - Throws: ``KafkaError/Code/unsupportedVersion``, naming both versions.
    public static func requireSupportedVersion() throws(KafkaError) {
        try RDKafkaVersion.running.requireSupported()
    }
}
