public import EventTypes

/// The response to a finish request.
///
/// It is the same for every repetition.
public struct FinishResponse: Codable, Hashable, Sendable {
    /// The finished transaction.
    public var transactionID: TransactionID
    /// The time of the first finish.
    public var finishedAt: StoreTime
    /// Makes a response.
    public init(transactionID: TransactionID, finishedAt: StoreTime) {
        self.transactionID = transactionID
        self.finishedAt = finishedAt
    }
}

// Every purchase ends with this response, so it is written without Foundation's encoder.

extension FinishResponse {
    /// The response as JSON, with the bytes of its `Encodable` form.
    package var json: [UInt8] {
        var text = PlainJSONText(capacity: 80)
        text.object { text in
            text.member("finishedAt", finishedAt)
            text.member("transactionID", transactionID.rawValue)
        }
        return text.bytes
    }
}
