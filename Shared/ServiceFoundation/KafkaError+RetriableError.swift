public import Kafka
public import ServiceKit

/// So that the HTTP edge answers 503 where the broker is away.
///
/// The same of `PostgresError` stands in `ServiceKit`, which knows the database.
extension KafkaError: RetriableError {}
