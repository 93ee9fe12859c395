/// A pointer to a handle or a queue of librdkafka.
///
/// Whoever holds it knows when it is destroyed.
struct RDKafkaPointer: @unchecked Sendable {  // librdkafka allows any thread to use it.
    let raw: OpaquePointer

    init(_ raw: OpaquePointer) { self.raw = raw }
}
