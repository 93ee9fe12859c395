import EventTypes

/// The place of a request among all requests for refunds, at which a page ends.
struct RefundRequestPlace: Hashable, Sendable {
    var requestedAt: StoreTime
    var transactionID: TransactionID
    var number: Int

    /// The place before every request.
    static let start = RefundRequestPlace(
        requestedAt: StoreTime(millisecondsSinceEpoch: 0),
        transactionID: TransactionID(number: 0),
        number: 0
    )

    /// The place of a request.
    init(of request: RequestedRefund) {
        requestedAt = request.requestedAt
        transactionID = request.transactionID
        number = request.number
    }

    private init(requestedAt: StoreTime, transactionID: TransactionID, number: Int) {
        self.requestedAt = requestedAt
        self.transactionID = transactionID
        self.number = number
    }

    /// Reads a place from the text that a page named; `nil` if it is none.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let time = Int64(parts[0]), let number = Int32(parts[2]),
            let id = TransactionID(rawValue: String(parts[1]))
        else { return nil }
        self.init(
            requestedAt: StoreTime(millisecondsSinceEpoch: time),
            transactionID: id,
            number: Int(number)
        )
    }

    /// The place as text, for the next page.
    var text: String { "\(requestedAt.millisecondsSinceEpoch)-\(transactionID)-\(number)" }
}
