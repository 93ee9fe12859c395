import Callbacks
import EventTypes
import Foundation
import StoreAPI
import StoreTracing

/// A webhook that a sender has leased: one try of one delivery.
struct Webhook: Callback, Hashable {
    let transactionID: TransactionID
    /// The delivery's target.
    let target: DeliveryTargetName
    /// The number of this try, from 1.
    let attempt: Int
    let url: String
    let host: String
    let queue: QueueKey
    let state: TransactionState
    let snapshot: TransactionSnapshot
    /// The trace of its purchase.
    var traceparent: TraceContext?
    /// The named entitlements that the account has when the try is made.
    var entitlements: [NamedEntitlement] = []

    /// The id of its trace, for a log line; empty if it has none.
    var trace: String { traceparent?.traceID.description ?? "" }

    /// The number of the refund that it reports, or whose reversal it reports; `nil` for the
    /// purchase itself.
    var refund: Int? { target.refund }

    /// The delivery's id, the same at every try.
    var id: String { target.webhookID(of: transactionID) }

    /// Returns the request body: the named entitlements of the account, the number of the refund, if
    /// it is about one, the target, the transaction, and the event type.
    func body() throws -> [UInt8] {
        let type: EventType =
            if refund != nil {
                target.isReversal ? .transactionRefundReversed : .transactionRefunded
            } else {
                state == .restored ? .transactionRestored : .transactionPurchased
            }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var body = Array("{\"entitlements\":".utf8)
        body.append(contentsOf: try encoder.encode(entitlements))
        body.append(UInt8(ascii: ","))
        if let refund { body.append(contentsOf: "\"refund\":\(refund),".utf8) }
        body.append(contentsOf: "\"target\":".utf8)
        body.append(contentsOf: try encoder.encode(DeliveryTarget.webhook(url: url)))
        body.append(contentsOf: ",\"transaction\":".utf8)
        body.append(contentsOf: snapshot.bytes)
        body.append(contentsOf: ",\"type\":\"\(type)\"}".utf8)
        return body
    }
}
