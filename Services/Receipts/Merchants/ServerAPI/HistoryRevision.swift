import Crypto
import EventTypes
import ServiceKit

/// How far a server has read a history: the `revision` of each page.
///
/// Each change of a transaction gives it the next position of its account's history, in commit
/// order. A page ends at a position, and the next begins behind it: nothing that changes meanwhile
/// is passed over, because it moves behind everything that was there.
///
/// From new to old a walk covers the positions below ``cursor`` and above ``floor``. What changes
/// meanwhile moves above ``top``, where the walk began; so when it has come down to the floor, the
/// next walk covers what is above ``top``.
///
/// Pure. The token holds a digest of account, app and filters, and is good for those alone. It holds
/// no secret and opens nothing: whose history is read is decided by the transaction in the path.
struct HistoryRevision: Hashable, Sendable {
    /// The position where the page ended.
    var cursor: Int64
    /// The position down to which everything was read by an earlier walk; from new to old only.
    var floor: Int64 = 0
    /// The position where this walk began; from new to old only.
    var top: Int64 = 0

    /// What a token is good for.
    struct Scope: Hashable, Sendable {
        fileprivate let digest: [UInt8]

        /// - Parameters:
        ///   - owner: Whose history.
        ///   - query: What is asked for, as ``HistoryQuery/fingerprint`` has it.
        init(owner: OwnerKey, query: String) {
            let text = "\(owner.account)\n\(owner.bundle)\n\(query)"
            digest = Array(SHA256.hash(data: Array(text.utf8)).prefix(8))
        }
    }

    /// The form of the token; another number would be another form.
    private static let form: UInt8 = 1

    /// The beginning of a history.
    static func start(_ order: HistoryQuery.Order) -> HistoryRevision {
        HistoryRevision(cursor: order == .ascending ? 0 : .max)
    }

    /// Where to go on from.
    init(cursor: Int64, floor: Int64 = 0, top: Int64 = 0) {
        self.cursor = cursor
        self.floor = floor
        self.top = top
    }

    /// Reads a token.
    ///
    /// - Throws: ``ServerAPIError/invalidRequestRevision`` for what is none, or is another request's.
    init(token: String, scope: Scope) throws(ServerAPIError) {
        guard token.utf8.count <= 100,
            let bytes = StrictBase64.decode(Array(token.utf8)[...], .url), bytes.count == 33,
            bytes[0] == Self.form, Array(bytes[1..<9]) == scope.digest
        else { throw .invalidRequestRevision }
        cursor = Self.number(bytes[9..<17])
        floor = Self.number(bytes[17..<25])
        top = Self.number(bytes[25..<33])
        guard cursor >= 0, floor >= 0, top >= 0 else { throw .invalidRequestRevision }
    }

    /// The token.
    func token(scope: Scope) -> String {
        let numbers = [cursor, floor, top].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * Int64($0))) }
        }
        let bytes = [Self.form] + scope.digest + numbers
        return String(decoding: StrictBase64.encode(bytes), as: UTF8.self)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
}
