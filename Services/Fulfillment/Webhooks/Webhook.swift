import Callbacks
import EventTypes
import Foundation
import StoreTracing

/// A webhook that a sender has leased: one try of one delivery.
struct Webhook: Callback, Hashable {
    let transactionID: TransactionID
    /// The delivery's target: `1:webhook`, or `1:refund` to report a refund.
    let target: String
    /// The number of this try, from 1.
    let attempt: Int
    let url: String
    let host: String
    let queue: QueueKey
    let state: TransactionState
    let snapshot: TransactionSnapshot
    /// The trace of its purchase.
    var traceparent: String?

    /// The id of its trace, for a log line; empty if it has none.
    var trace: String {
        traceparent.flatMap { TraceContext($0) }?.traceID.description ?? ""
    }

    /// Whether it reports that the purchase was refunded.
    var isRefund: Bool { target.hasSuffix(DeliveryRules.refundSuffix) }

    /// The delivery's id, the same at every try.
    var id: String {
        "delivery_\(transactionID)_\(target.prefix { $0 != ":" })\(isRefund ? "_refund" : "")"
    }

    /// Returns the request body: the event type, the transaction, and the target.
    func body() throws -> [UInt8] {
        let type: EventType =
            if isRefund {
                .transactionRefunded
            } else {
                state == .restored ? .transactionRestored : .transactionPurchased
            }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var body = Array("{\"target\":".utf8)
        body.append(contentsOf: try encoder.encode(DeliveryTarget.webhook(url: url)))
        body.append(contentsOf: ",\"transaction\":".utf8)
        body.append(contentsOf: snapshot.bytes)
        body.append(contentsOf: ",\"type\":\"\(type)\"}".utf8)
        return body
    }
}

/// The outcome of a try of a webhook, as it is recorded.
struct WebhookOutcome: Hashable, Sendable {
    let webhook: Webhook
    let result: CallbackResult
    let time: Timestamp
    /// The time of the next try, unless this one was the last.
    let nextAttemptAt: Timestamp
}
