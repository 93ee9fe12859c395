import Dispatch
public import Logging
public import ServiceLifecycle

/// Sends records idempotently, and returns the offsets at which the broker has stored them.
///
/// Safe to use from any task. Records of one ``send(_:)`` keep their order within a partition, and
/// so do records of consecutive sends. After ``KafkaError/Code/fatal``, make a new producer: the
/// broker and this one no longer agree on what was sent.
public final class KafkaProducer: Service, Sendable {
    private let producer: RDKafkaProducer

    /// Makes a producer and begins to connect.
    ///
    /// - Throws: ``KafkaError`` with ``KafkaError/Code/configuration`` or
    ///   ``KafkaError/Code/unsupportedVersion``. An unreachable broker is no error here.
    public init(settings: KafkaSettings, logger: Logger) throws(KafkaError) {
        try KafkaLibrary.requireSupportedVersion()
        producer = try RDKafkaProducer(settings: settings, logger: logger)
    }

    deinit {
        Self.close(producer, flushing: .zero)
    }

    /// Sends records and waits until the broker has stored all of them.
    ///
    /// - Returns: The partition and offset of each record, in the given order.
    /// - Throws: The first ``KafkaError``, after every report is in. Other records of the batch may
    ///   have been stored: send again and let the consumers recognise the duplicates.
    public func send(_ records: [KafkaRecord]) async throws(KafkaError) -> [KafkaDelivery] {
        guard !records.isEmpty else { return [] }
        let result = await withCheckedContinuation { continuation in
            producer.send(DeliveryBatch(records) { continuation.resume(returning: $0) })
        }
        return try result.get()
    }

    /// Waits for the shutdown of the service or the cancellation of the task, then sends the
    /// remaining records for at most five seconds, and closes.
    public func run() async throws {
        try? await gracefulShutdown()  // A cancellation closes it too.
        let producer = self.producer
        let duration: Duration = Task.isCancelled ? .zero : .seconds(5)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                producer.close(flushing: duration)
                continuation.resume()
            }
        }
    }

    private static func close(_ producer: RDKafkaProducer, flushing duration: Duration) {
        DispatchQueue.global().async { producer.close(flushing: duration) }
    }
}
