import EventTypes

/// One page of a history, as it is put together from what is read in portions.
///
/// Pure. A page costs the same wherever in the history it stands: what is read begins at the cursor
/// and ends when the page is full, or when as much was read as one page may cost. A page may
/// therefore be short, even empty, and yet not the last.
struct HistoryPage: Sendable {
    /// A row of the history.
    struct Row: Hashable, Sendable {
        var transactionID: TransactionID
        var position: Int64
        var candidate: HistoryQuery.Candidate
    }

    /// How many transactions a page holds, as Apple's.
    static let transactionsMax = 20
    /// How many rows are read for one page: a few to begin with, and more while filters choose none.
    static let portions = [32, 256, 768, 1024]

    private let query: HistoryQuery
    private let start: HistoryRevision
    /// The transactions of the page, in order.
    private(set) var transactionIDs: [TransactionID] = []
    /// Where the next page begins.
    private(set) var revision: HistoryRevision
    /// Whether there is more to read.
    private(set) var hasMore = false
    private var lastRead: Int64?
    private var isFull = false

    /// A page that begins at a revision.
    init(_ query: HistoryQuery, from start: HistoryRevision) {
        self.query = query
        self.start = start
        revision = start
    }

    /// Where the next portion begins.
    var cursor: Int64 { lastRead ?? start.cursor }

    /// Takes a portion of rows, in the order of the query.
    ///
    /// - Parameters:
    ///   - rows: The rows next after ``cursor``.
    ///   - limit: How many were asked for; fewer say that there are no more.
    /// - Returns: Whether another portion is needed.
    mutating func take(_ rows: [Row], limit: Int) -> Bool {
        if query.order == .descending, revision.top == 0, start.top == 0 {
            revision.top = rows.first?.position ?? start.floor
        }
        for row in rows {
            if query.selects(row.candidate) {
                if transactionIDs.count == Self.transactionsMax {
                    hasMore = true
                    isFull = true
                    break
                }
                transactionIDs.append(row.transactionID)
            }
            lastRead = row.position
            revision.cursor = row.position
        }
        if isFull { return false }
        hasMore = rows.count == limit
        return hasMore
    }

    /// Closes the page.
    ///
    /// - Parameter newest: Where the transaction stands that changed last, at the end of the reading.
    ///   A position that no transaction has any more would promise a page that never comes.
    mutating func close(newest: Int64) {
        guard query.order == .descending, !hasMore else { return }
        // Down at the floor: the next page begins with what has changed since this walk began.
        let top = max(revision.top, start.top)
        hasMore = newest > top
        revision = HistoryRevision(cursor: .max, floor: top)
    }
}
