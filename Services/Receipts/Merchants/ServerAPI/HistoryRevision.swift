import Crypto
import EventTypes
import ServiceKit

/// The position up to which a server has read a history: the `revision` of each page.
///
/// Each change of a transaction gives it the next position in its account's history, in commit
/// order. A page ends at a position, and the next begins after it. A transaction that changes
/// meanwhile is not missed, because it moves to the end.
///
/// In descending order a walk covers the positions below ``cursor`` and above ``floor``.
/// Transactions that change meanwhile move above ``top``, where the walk began. Once the walk has
/// reached the floor, the next one covers the positions above ``top``.
///
/// Pure. The token contains a digest of account, app and filters, and is valid only for them. It
/// contains no secret and grants no access: the transaction in the path decides whose history is
/// read.
struct HistoryRevision: Hashable, Sendable {
    /// The position where the page ended.
    var cursor: Int64
    /// The position down to which an earlier walk has read everything.
    ///
    /// Descending order only.
    var floor: Int64 = 0
    /// The position where this walk began.
    ///
    /// Descending order only.
    var top: Int64 = 0

    /// The account, app and filters that a token is valid for.
    struct Scope: Hashable, Sendable {
        fileprivate let digest: [UInt8]

        /// - Parameters:
        ///   - owner: The account and app of the history.
        ///   - query: The query's ``HistoryQuery/fingerprint``.
        init(owner: OwnerKey, query: String) {
            let text = "\(owner.account)\n\(owner.bundle)\n\(query)"
            digest = Array(SHA256.hash(data: Array(text.utf8)).prefix(8))
        }
    }

    /// The version of the token's format.
    private static let form: UInt8 = 1

    /// Returns the beginning of a history.
    static func start(_ order: HistoryQuery.Order) -> HistoryRevision {
        HistoryRevision(cursor: order == .ascending ? 0 : .max)
    }

    /// Creates a revision.
    init(cursor: Int64, floor: Int64 = 0, top: Int64 = 0) {
        self.cursor = cursor
        self.floor = floor
        self.top = top
    }

    /// Parses a token.
    ///
    /// - Throws: ``ServerAPIError/invalidRequestRevision`` if it is malformed or belongs to another
    ///   query.
    init(token: String, scope: Scope) throws(ServerAPIError) {
        guard token.utf8.count <= 100,
            let bytes = StrictBase64.decode(token), bytes.count == 33,
            bytes[0] == Self.form, Array(bytes[1..<9]) == scope.digest
        else { throw .invalidRequestRevision }
        cursor = Self.number(bytes[9..<17])
        floor = Self.number(bytes[17..<25])
        top = Self.number(bytes[25..<33])
        guard cursor >= 0, floor >= 0, top >= 0 else { throw .invalidRequestRevision }
    }

    /// Returns the token.
    func token(scope: Scope) -> String {
        let numbers = [cursor, floor, top].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * Int64($0))) }
        }
        let bytes = [Self.form] + scope.digest + numbers
        return StrictBase64.text(bytes)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
}
