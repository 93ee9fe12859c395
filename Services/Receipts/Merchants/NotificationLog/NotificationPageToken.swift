import EventTypes
import ServiceKit

/// What a page of the history of notifications ends with, and the next is asked for by: the place, and
/// when it was given.
///
/// It is good for a day. Notifications go when they are old, so pages that are read weeks apart would
/// leave some out without a word; Apple's server refuses an old token too, and does not say when.
struct NotificationPageToken: Hashable, Sendable {
    /// How long a token is good.
    static let lifetime = Duration.seconds(86_400)

    let place: NotificationHistoryToken
    let issuedAt: Timestamp

    /// Makes a token.
    init(_ place: NotificationHistoryToken, issuedAt: Timestamp) {
        self.place = place
        self.issuedAt = issuedAt
    }

    /// Reads a token that ``text`` wrote.
    ///
    /// - Throws: ``ServerAPIError``: 4000014 of what is no token, 4000017 of one that is too old.
    init(_ text: String, at now: Timestamp) throws(ServerAPIError) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let milliseconds = Int64(parts[2], radix: 36), milliseconds >= 0,
            milliseconds <= now.advanced(by: Self.lifetime).millisecondsSinceEpoch,
            let place = NotificationHistoryToken(parts[..<2].joined(separator: "-"))
        else { throw .invalidPaginationToken }
        self.init(place, issuedAt: Timestamp(millisecondsSinceEpoch: milliseconds))
        guard now <= issuedAt.advanced(by: Self.lifetime) else { throw .paginationTokenExpired }
    }

    var text: String { "\(place.text)-\(String(issuedAt.millisecondsSinceEpoch, radix: 36))" }
}
