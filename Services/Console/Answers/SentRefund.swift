import EventTypes
import StoreAPI

/// A refund that was sent and has no answer yet.
///
/// The store makes it once for its key, however often it is sent again. It must be the same request:
/// another one under the same key is refused.
struct SentRefund: Codable, Hashable, Sendable {
    let transactionID: TransactionID
    let key: IdempotencyKey
    let request: RefundRequest
}
