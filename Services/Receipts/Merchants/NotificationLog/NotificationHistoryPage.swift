/// A page of the notification history, assembled from portions of the log.
///
/// Pure. The number of rows read for a page is limited, however long the log is and however few
/// rows match. A page with few matches may be short or even empty, and then says that there is
/// more.
struct NotificationHistoryPage: Hashable, Sendable {
    /// The largest number of notifications on a page.
    static let length = 20
    /// The sizes of the portions, in the order they are read.
    ///
    /// The first is one page, and one row more that shows whether there is a next page. Larger ones
    /// follow if few rows match.
    static let portions = [length + 1, 200, 1800]

    /// One row of the log.
    struct Row: Hashable, Sendable {
        var token: NotificationHistoryToken
        var candidate: NotificationHistoryQuery.Candidate
    }

    /// The positions of the matching notifications, the oldest first.
    private(set) var positions: [Int64] = []
    /// The token of the next page.
    private(set) var token: NotificationHistoryToken
    /// Whether there may be more.
    private(set) var hasMore = true

    private let query: NotificationHistoryQuery

    init(_ query: NotificationHistoryQuery, after token: NotificationHistoryToken?) {
        self.query = query
        self.token = token ?? NotificationHistoryToken(xid: 0, position: 0)
    }

    /// Processes the next portion.
    ///
    /// - Returns: Whether another portion is needed.
    mutating func take(_ rows: [Row], limit: Int) -> Bool {
        for row in rows {
            if query.chooses(row.candidate) {
                // The page is full, so the next page begins with this row.
                if positions.count == Self.length { return false }
                positions.append(row.token.position)
            }
            token = row.token
        }
        hasMore = rows.count == limit
        return hasMore
    }
}

/// The range of database transactions that wrote a part of the log.
struct NotificationLogBounds: Hashable, Sendable {
    /// The first database transaction that may be in the range.
    var first: UInt64 = 0
    /// The first database transaction beyond the range, or the largest number if it is unknown.
    var end = UInt64(Int64.max)
}
