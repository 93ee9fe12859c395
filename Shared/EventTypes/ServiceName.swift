/// The name of a service of the store.
///
/// The command line, the consumer group, the database role and the logs all use it.
public enum ServiceName: String, CaseIterable, Codable, Sendable, CustomStringConvertible {
    /// The service for products.
    case catalog
    /// The service for payments.
    case payments
    /// The service for signed transactions.
    case receipts
    /// The service for deliveries and queues.
    case fulfillment

    /// The name as text, such as `payments`.
    public var description: String { rawValue }

    /// The database role of the service.
    ///
    /// The role has only the permissions that the service needs.
    public var databaseRole: String { "counterfoil_\(rawValue)" }
}
