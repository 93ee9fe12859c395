import EventTypes

/// One page of a history, assembled from portions.
///
/// Pure. A page costs the same anywhere in the history. Reading begins at the cursor, and ends when
/// the page is full or when the limit for one page has been read. So a page may be short or even
/// empty without being the last.
struct HistoryPage: Sendable {
    /// A row of the history.
    struct Row: Hashable, Sendable {
        var transactionID: TransactionID
        var position: Int64
        var candidate: HistoryQuery.Candidate
    }

    /// The number of transactions on a page, the same as Apple's.
    static let transactionsMax = 20
    /// The numbers of rows read for one page: few at first, more while the filters match none.
    static let portions = [32, 256, 768, 1024]

    private let query: HistoryQuery
    private let start: HistoryRevision
    /// The transactions on the page, in order.
    private(set) var transactionIDs: [TransactionID] = []
    /// The start of the next page.
    private(set) var revision: HistoryRevision
    /// Whether there is more to read.
    private(set) var hasMore = false
    private var lastRead: Int64?
    private var isFull = false

    /// Creates a page that begins at a revision.
    init(_ query: HistoryQuery, from start: HistoryRevision) {
        self.query = query
        self.start = start
        revision = start
    }

    /// The position after which the next portion begins.
    var cursor: Int64 { lastRead ?? start.cursor }

    /// Processes a portion of rows, in the order of the query.
    ///
    /// - Parameters:
    ///   - rows: The rows that follow ``cursor``.
    ///   - limit: The number of rows requested. Fewer rows mean that there are no more.
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

    /// Completes the page.
    ///
    /// - Parameter newest: The position of the transaction that changed last, at the end of the
    ///   reading. A position that no transaction has any more would promise a page that never
    ///   comes.
    mutating func close(newest: Int64) {
        guard query.order == .descending, !hasMore else { return }
        // The walk has reached the floor. The next page begins with changes made since the walk
        // began.
        let top = max(revision.top, start.top)
        hasMore = newest > top
        revision = HistoryRevision(cursor: .max, floor: top)
    }
}
