/// A fact that a service publishes: past tense, with a version in its name.
///
/// An event's data is encoded once, when it is put into the outbox, and carried as those bytes.
public protocol Event: Codable, Sendable {
    /// The data of the event, where a type writes it itself: the same bytes as its `Encodable` form.
    func json() -> [UInt8]?
    /// Reads the data of an event, where a type reads it itself.
    ///
    /// - Returns: `nil` where only its `Decodable` form can tell.
    init?(json data: [UInt8])
}

extension Event {
    /// `nil`: Foundation's encoder writes it.
    public func json() -> [UInt8]? { nil }
    /// `nil`: Foundation's decoder reads it.
    public init?(json data: [UInt8]) { nil }
}
