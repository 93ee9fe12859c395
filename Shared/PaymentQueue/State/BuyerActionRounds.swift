import EventTypes

/// The payments and the subscriptions for whose pages the store is asked.
///
/// Each is asked about in a round, which opens a page once. A new round replaces the one before, so it
/// opens the page again. It does no I/O.
struct BuyerActionRounds {
    private struct Round {
        /// The states of the page of a round.
        enum Page {
            case none, open, closed
        }

        let number: Int
        var page = Page.none
    }

    private var rounds: [TransactionID: Round] = [:]
    /// The number of the newest round.
    private var last = 0

    /// The payments and the subscriptions that are asked about.
    var ids: Set<TransactionID> { Set(rounds.keys) }

    /// Begins a round.
    ///
    /// - Parameter id: The payment or the subscription.
    /// - Returns: The number of the round; `nil` if the round before is about to open the page, or has not
    ///   closed it yet.
    mutating func begin(_ id: TransactionID) -> Int? {
        let before = rounds[id]
        if let before, before.page != .closed { return nil }
        last += 1
        rounds[id] = Round(number: last)
        return last
    }

    /// Whether a round has not been replaced.
    func isCurrent(_ number: Int, of id: TransactionID) -> Bool { rounds[id]?.number == number }

    /// Records that a round opens its page.
    ///
    /// - Parameters:
    ///   - number: The round.
    ///   - id: The payment or the subscription.
    /// - Returns: Whether it may, because it has not been replaced.
    mutating func openPage(_ number: Int, of id: TransactionID) -> Bool {
        guard isCurrent(number, of: id) else { return false }
        rounds[id]?.page = .open
        return true
    }

    /// Records that the page of a round was closed.
    mutating func closePage(_ number: Int, of id: TransactionID) {
        if isCurrent(number, of: id) { rounds[id]?.page = .closed }
    }

    /// Ends a round, unless it was replaced.
    mutating func end(_ number: Int, of id: TransactionID) {
        if isCurrent(number, of: id) { rounds[id] = nil }
    }
}
