/// The librdkafka library of this process.
public enum KafkaLibrary {
    /// The version, such as `2.14.2`.
    public static var version: String { RDKafkaVersion.running.description }

    /// Refuses a librdkafka older than 2.10.
    ///
    /// Older versions misread newer brokers' answers, cannot log in to Kafka 4 with SCRAM, or crash
    /// when a topic is created again.
    ///
    /// - Throws: ``KafkaError/Code/unsupportedVersion``, naming both versions.
    public static func requireSupportedVersion() throws(KafkaError) {
        try RDKafkaVersion.running.requireSupported()
    }
}
