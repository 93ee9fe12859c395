import EventTypes
import Messaging
import StoreTracing

extension OutboxEvent {
    /// The event of a request to extend all subscribers of a product.
    ///
    /// An event about one of them is in order with the others of its account.
    init(_ changed: MassExtensionChanged, traceparent: TraceContext?) throws {
        try self.init(
            changed,
            type: .massExtensionChanged,
            topic: Topics.paymentsTransactions,
            key: changed.failed?.accountID.rawValue ?? changed.request.bundleID.rawValue,
            subject: changed.failed?.id.rawValue ?? changed.request.productID.rawValue,
            time: changed.changedAt,
            traceparent: traceparent
        )
    }
}
