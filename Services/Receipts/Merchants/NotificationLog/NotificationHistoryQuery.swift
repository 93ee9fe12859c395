import EventTypes
import Foundation
import ServiceKit

/// A merchant's query for the history of its notifications.
///
/// Pure.
struct NotificationHistoryQuery: Hashable, Sendable {
    /// Returns how far back the history goes (Apple's limits).
    static func reach(in environment: StoreEnvironment) -> Duration {
        .seconds((environment == .production ? 180 : 30) * 86_400)
    }

    /// The years up to 9999.
    ///
    /// Beyond them PostgreSQL and calendars differ.
    private static let calendar: ClosedRange<Int64> = 0...253_402_300_799_999
    /// The properties of a notification that the query filters by.
    struct Candidate: Hashable, Sendable {
        var type: String
        var subtype: String?
        var transactionID: TransactionID?
        var signedAt: StoreTime
        /// Whether a try of it failed.
        ///
        /// It is set only if the query asks for failures.
        var hasFailed: Bool
    }

    let start: StoreTime
    let end: StoreTime
    let type: String?
    let subtype: String?
    var transactionID: TransactionID?
    let onlyFailures: Bool

    /// The body as received.
    ///
    /// Every member may have the wrong type.
    private struct Body: Decodable {
        var startDate: Int64?
        var endDate: Int64?
        var notificationType: String?
        var notificationSubtype: String?
        var transactionId: String?
        var onlyFailures: Bool?
    }

    /// Parses a request's body.
    init(_ body: Data, in environment: StoreEnvironment, at now: StoreTime) throws(ServerAPIError) {
        let body = try Self.decoded(body)
        guard let start = body.startDate, Self.calendar.contains(start) else {
            throw .invalidStartDate
        }
        guard let end = body.endDate, Self.calendar.contains(end) else { throw .invalidEndDate }
        self.start = StoreTime(millisecondsSinceEpoch: start)
        self.end = StoreTime(millisecondsSinceEpoch: end)
        guard self.start < self.end else { throw .startDateAfterEndDate }
        let reach = Self.reach(in: environment)
        guard self.start >= now.advanced(by: .zero - reach) else { throw .startDateTooFarInPast }
        guard body.transactionId == nil || body.notificationType == nil else {
            throw .multipleFiltersSupplied
        }
        if let type = body.notificationType {
            // A type without a subtype stands for all its subtypes.
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

    /// Whether a notification matches the query.
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

/// The end of a page of the history.
///
/// The next page begins after it, whatever was added meanwhile.
struct NotificationHistoryToken: Hashable, Comparable, Sendable {
    /// The number of the database transaction that wrote the last notification.
    let xid: UInt64
    /// Its position in the log.
    let position: Int64

    /// Creates a token.
    init(xid: UInt64, position: Int64) {
        self.xid = xid
        self.position = position
    }

    /// Parses a token from ``text``.
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
