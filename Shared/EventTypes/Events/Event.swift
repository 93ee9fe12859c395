/// A fact that a service publishes.
///
/// Its name is in the past tense and has a version.
///
/// The data of an event is encoded once, when it is added to the outbox, and is never re-encoded.
public protocol Event: Codable, Sendable {
    /// Encodes the event's data, if the type has its own encoder. The bytes equal those of its
    /// `Encodable` form.
    func json() -> [UInt8]?
    /// Decodes an event's data, if the type has its own decoder.
    ///
    /// - Returns: `nil` if the `Decodable` form must be used instead.
    init?(json data: [UInt8])
}

extension Event {
    /// Returns `nil`: Foundation's encoder is used.
    public func json() -> [UInt8]? { nil }
    /// Returns `nil`: Foundation's decoder is used.
    public init?(json data: [UInt8]) { nil }
}
