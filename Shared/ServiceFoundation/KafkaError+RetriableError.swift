public import Kafka
public import ServiceKit

/// Makes the HTTP server answer 503 if the broker is unavailable.
///
/// `ServiceKit` has the same conformance for `PostgresError`.
extension KafkaError: RetriableError {}
