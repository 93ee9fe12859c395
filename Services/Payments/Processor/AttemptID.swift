import EventTypes

/// The identity of one charge, refund or reversal.
///
/// The processor gets it as idempotency key, so every call uses the same id.
struct AttemptID: Hashable, Sendable, CustomStringConvertible {
    let bytes: SIMD16<UInt8>

    init(bytes: SIMD16<UInt8>) { self.bytes = bytes }

    var description: String { EventID(bytes: bytes).description }
}
