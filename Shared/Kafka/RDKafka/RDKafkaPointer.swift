/// A pointer to a handle or a queue of librdkafka.
///
/// Its holder knows when it is destroyed.
struct RDKafkaPointer:
    @unchecked Sendable  // librdkafka lets any thread use a handle until it is destroyed.
{
    let raw: OpaquePointer

    init(_ raw: OpaquePointer) { self.raw = raw }
}
