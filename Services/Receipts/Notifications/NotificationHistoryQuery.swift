import EventTypes
import Foundation
import ServiceKit

/// What a merchant's server asks of the history of its notifications.
///
/// Pure.
struct NotificationHistoryQuery: Hashable, Sendable {
    /// How far the history goes back (Apple's limits).
    static func reach(in environment: StoreEnvironment) -> Duration {
        .seconds((environment == .production ? 180 : 30) * 86_400)
    }

    /// Beyond the year 9999 PostgreSQL and calendars part ways.
    private static let calendar: ClosedRange<Int64> = 0...253_402_300_799_999
    /// The notifications of a page.
    static let pageLength = 20

    let start: Timestamp
    let end: Timestamp
    let type: String?
    let subtype: String?
    let transactionID: TransactionID?
    let onlyFailures: Bool

    /// The body as it comes; every member may be of the wrong type.
    private struct Body: Decodable {
        var startDate: Int64?
        var endDate: Int64?
        var notificationType: String?
        var notificationSubtype: String?
        var transactionId: String?
        var onlyFailures: Bool?
    }

    /// Reads a request's body.
    init(_ body: Data, in environment: StoreEnvironment, at now: Timestamp) throws(ServerAPIError) {
        let body = try Self.decoded(body)
        guard let start = body.startDate, Self.calendar.contains(start) else {
            throw .invalidStartDate
        }
        guard let end = body.endDate, Self.calendar.contains(end) else { throw .invalidEndDate }
        self.start = Timestamp(millisecondsSinceEpoch: start)
        self.end = Timestamp(millisecondsSinceEpoch: end)
        guard self.start < self.end else { throw .startDateAfterEndDate }
        let reach = Self.reach(in: environment)
        guard self.start >= now.advanced(by: .zero - reach) else { throw .startDateTooFarInPast }
        guard body.transactionId == nil || body.notificationType == nil else {
            throw .multipleFiltersSupplied
        }
        if let type = body.notificationType {
            // A subtype narrows a type; a type by itself means all its subtypes.
            let isKnown = body.notificationSubtype.map {
                NotificationKind(type: type, subtype: $0) != nil
            }
            guard isKnown ?? NotificationKind.hasType(type) else { throw .invalidNotificationType }
        } else if body.notificationSubtype != nil {
            throw .invalidNotificationType
        }
        type = body.notificationType
        subtype = body.notificationSubtype
        if let text = body.transactionId {
            guard let id = TransactionID(rawValue: text) else { throw .invalidTransactionID }
            transactionID = id
        } else {
            transactionID = nil
        }
        onlyFailures = body.onlyFailures ?? false
    }

    private static func decoded(_ body: Data) throws(ServerAPIError) -> Body {
        do {
            return try JSONDecoder().decode(Body.self, from: body)
        } catch let error as DecodingError {
            guard case .typeMismatch(_, let context) = error else { throw .generalBadRequest }
            switch context.codingPath.last?.stringValue {
            case "startDate": throw .invalidStartDate
            case "endDate": throw .invalidEndDate
            case "transactionId": throw .invalidTransactionID
            case "notificationType", "notificationSubtype": throw .invalidNotificationType
            default: throw .generalBadRequest
            }
        } catch {
            throw .generalBadRequest
        }
    }
}

/// Where a page of the history ended; the next goes on after it, whatever came meanwhile.
struct NotificationHistoryToken: Hashable, Sendable {
    /// The number of the database transaction that wrote the last notification.
    let xid: UInt64
    /// Its place among all.
    let position: Int64

    /// Makes a token.
    init(xid: UInt64, position: Int64) {
        self.xid = xid
        self.position = position
    }

    /// Reads a token that ``text`` wrote.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let xid = UInt64(parts[0], radix: 36),
            let position = Int64(parts[1], radix: 36), position >= 0
        else { return nil }
        self.init(xid: xid, position: position)
    }

    var text: String { "\(String(xid, radix: 36))-\(String(position, radix: 36))" }
}

/// A page of the history, the oldest notification first.
struct NotificationHistoryPage: Hashable, Sendable {
    let records: [NotificationRecord]
    /// Where it ended; `nil` if it is empty.
    let token: NotificationHistoryToken?
    /// Whether another page follows.
    let hasMore: Bool
}
