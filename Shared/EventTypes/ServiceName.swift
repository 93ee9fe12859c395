/// A service of the store, by the name that it has everywhere: on its command line, as the consumer
/// group of its events, in its database's role, and in the logs.
public enum ServiceName: String, CaseIterable, Codable, Sendable, CustomStringConvertible {
    /// What can be bought.
    case catalog
    /// Payments.
    case payments
    /// Signed transactions.
    case receipts
    /// Deliveries and queues.
    case fulfillment

    /// The name as it is written: `payments`.
    public var description: String { rawValue }

    /// The role that the service runs as in its database.
    ///
    /// It can do what the service does and nothing else.
    public var databaseRole: String { "counterfoil_\(rawValue)" }
}
