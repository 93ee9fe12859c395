import EventTypes
import ServiceKit

/// The token at the end of a page of the notification history, by which the next page is requested.
///
/// It contains the position and the time at which it was issued, by the machines' clock: tokens do
/// not expire because the store's clock is set.
///
/// It is valid for a day. Old notifications are deleted, so pages read weeks apart would silently
/// omit some. Apple's server also refuses an old token, but does not document its age.
struct NotificationPageToken: Hashable, Sendable {
    /// The time for which a token is valid.
    static let lifetime = Duration.seconds(86_400)

    let start: NotificationHistoryToken
    let issuedAt: MachineTime

    /// Creates a token.
    init(_ start: NotificationHistoryToken, issuedAt: MachineTime) {
        self.start = start
        self.issuedAt = issuedAt
    }

    /// Parses a token from ``text``.
    ///
    /// - Throws: ``ServerAPIError``: 4000014 if it is not a token, 4000017 if it is too old.
    init(_ text: String, at now: MachineTime) throws(ServerAPIError) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let milliseconds = Int64(parts[2], radix: 36), milliseconds >= 0,
            milliseconds <= now.advanced(by: Self.lifetime).millisecondsSinceEpoch,
            let start = NotificationHistoryToken(parts[..<2].joined(separator: "-"))
        else { throw .invalidPaginationToken }
        self.init(start, issuedAt: MachineTime(millisecondsSinceEpoch: milliseconds))
        guard now <= issuedAt.advanced(by: Self.lifetime) else { throw .paginationTokenExpired }
    }

    var text: String { "\(start.text)-\(String(issuedAt.millisecondsSinceEpoch, radix: 36))" }
}
