import EventTypes
import StoreTracing

/// A request to extend all subscribers of a product, as it is stored.
struct MassExtensionRecord: Hashable, Sendable {
    var request: MassExtension
    /// The trace of the request.
    var traceparent: TraceContext?
    /// The last subscription that there was when the request was accepted.
    var lastID: Int64
    /// The last subscription that was looked at.
    var lookedAtID: Int64 = 0
    /// The number of subscriptions that wait because of a broken row.
    var leftCount = 0
}
