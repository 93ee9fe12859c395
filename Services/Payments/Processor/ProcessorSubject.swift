import EventTypes

/// An attempt, as the texts of its objects at the processor name it.
struct ProcessorSubject: Hashable, Sendable {
    let transactionID: TransactionID
    let id: AttemptID
}

extension ProcessorSubject {
    /// Returns `nil` if the texts are none of the store's.
    init?(_ texts: [String: String]) {
        guard let id = texts["attempt"].flatMap({ EventID($0) }),
            let transaction = texts["transaction"].flatMap({ TransactionID(rawValue: $0) })
        else { return nil }
        self.init(transactionID: transaction, id: AttemptID(bytes: id.bytes))
    }
}
