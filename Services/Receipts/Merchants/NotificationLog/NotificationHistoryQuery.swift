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
    /// A notification as far as the question is about it.
    struct Candidate: Hashable, Sendable {
        var type: String
        var subtype: String?
        var transactionID: TransactionID?
        var signedAt: Timestamp
        /// Whether a try of it failed; only known where that is asked for.
        var hasFailed: Bool
    }

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

    /// Whether a notification is meant.
    func chooses(_ candidate: Candidate) -> Bool {
        candidate.signedAt >= start && candidate.signedAt < end
            && (type == nil || candidate.type == type)
            && (subtype == nil || candidate.subtype == subtype)
            && (transactionID == nil || candidate.transactionID == transactionID)
            && (!onlyFailures || candidate.hasFailed)
    }

    private static func decoded(_ body: Data) throws(ServerAPIError) -> Body {
        do {
            return try StrictJSON.decode(Body.self, from: body)
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
struct NotificationHistoryToken: Hashable, Comparable, Sendable {
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

    static func < (one: Self, other: Self) -> Bool {
        (one.xid, one.position) < (other.xid, other.position)
    }

    var text: String { "\(String(xid, radix: 36))-\(String(position, radix: 36))" }
}
