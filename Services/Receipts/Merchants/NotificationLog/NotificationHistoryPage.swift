/// A page of the notification history as it is put together from portions of the log.
///
/// Pure. However long the log is and however little is chosen, a page reads so many rows and no more:
/// one that found little may be short, or empty, and says that there is more.
struct NotificationHistoryPage: Hashable, Sendable {
    /// The most notifications of a page.
    static let length = 20
    /// How many rows are read one portion after another: as many as a page has, and one to know
    /// whether there are more; larger ones where little is chosen.
    static let portions = [length + 1, 200, 1800]

    /// One row of the log.
    struct Row: Hashable, Sendable {
        var token: NotificationHistoryToken
        var candidate: NotificationHistoryQuery.Candidate
    }

    /// The places of what was chosen, the oldest first.
    private(set) var positions: [Int64] = []
    /// Where to go on.
    private(set) var token: NotificationHistoryToken
    /// Whether there may be more.
    private(set) var hasMore = true

    private let query: NotificationHistoryQuery

    init(_ query: NotificationHistoryQuery, after token: NotificationHistoryToken?) {
        self.query = query
        self.token = token ?? NotificationHistoryToken(xid: 0, position: 0)
    }

    /// Takes the next portion.
    ///
    /// - Returns: Whether another one is wanted.
    mutating func take(_ rows: [Row], limit: Int) -> Bool {
        for row in rows {
            if query.chooses(row.candidate) {
                // One too many: the next page begins with it.
                if positions.count == Self.length { return false }
                positions.append(row.token.position)
            }
            token = row.token
        }
        hasMore = rows.count == limit
        return hasMore
    }
}

/// Between which numbers of database transactions a part of the log is.
struct NotificationLogBounds: Hashable, Sendable {
    /// The first that may be meant.
    var first: UInt64 = 0
    /// The first that is no longer meant; beyond every other if that is not known.
    var end = UInt64(Int64.max)
}
