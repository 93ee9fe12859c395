import Crypto
import Foundation
import Synchronization

/// A signed-in buyer.
struct Session: Sendable, Hashable {
    /// The buyer.
    var buyer: Buyer
    /// The region in which they shop, ISO 3166-1 alpha-3.
    var storefront: String
    /// The time of the sign-in.
    var begunAt: Date
    /// The time of the last request.
    var usedAt: Date
}

/// The sessions of this server, in memory.
///
/// The browser has a random number in a cookie, and this table has only its digest. A restart signs
/// everybody out.
final class Sessions: Sendable {
    /// The longest life of a session.
    static let ageMax: TimeInterval = 8 * 3600
    /// The longest pause between two requests.
    static let pauseMax: TimeInterval = 2 * 3600
    /// The largest number of sessions; the one that was not used for longest makes room.
    static let countMax = 10_000

    private let sessions = Mutex<[SHA256Digest: Session]>([:])

    /// Begins a session.
    ///
    /// - Returns: The secret for the cookie.
    func begin(_ buyer: Buyer, storefront: String, at now: Date) -> String {
        let secret = SymmetricKey(size: .bits128).withUnsafeBytes { bytes in
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
        }
        let session = Session(buyer: buyer, storefront: storefront, begunAt: now, usedAt: now)
        sessions.withLock { sessions in
            sessions = sessions.filter { Self.isValid($0.value, at: now) }
            if sessions.count >= Self.countMax,
                let oldest = sessions.min(by: { $0.value.usedAt < $1.value.usedAt })
            {
                sessions[oldest.key] = nil
            }
            sessions[Self.digest(of: secret)] = session
        }
        return secret
    }

    /// The session of a cookie's secret, which counts as used.
    func session(of secret: String?, at now: Date) -> Session? {
        guard let secret else { return nil }
        let digest = Self.digest(of: secret)
        return sessions.withLock { sessions in
            guard let session = sessions[digest] else { return nil }
            guard Self.isValid(session, at: now) else {
                sessions[digest] = nil
                return nil
            }
            sessions[digest]?.usedAt = now
            return session
        }
    }

    /// Whether a session has not ended.
    ///
    /// Unlike ``session(of:at:)``, this is no use of the session: a page that is only open does not
    /// prolong it.
    func isGoingOn(_ secret: String?, at now: Date) -> Bool {
        guard let secret else { return false }
        let digest = Self.digest(of: secret)
        return sessions.withLock { $0[digest].map { Self.isValid($0, at: now) } ?? false }
    }

    /// Ends a session.
    func end(_ secret: String) {
        sessions.withLock { $0[Self.digest(of: secret)] = nil }
    }

    private static func isValid(_ session: Session, at now: Date) -> Bool {
        now.timeIntervalSince(session.begunAt) < ageMax
            && now.timeIntervalSince(session.usedAt) < pauseMax
    }

    private static func digest(of secret: String) -> SHA256Digest {
        SHA256.hash(data: Data(secret.utf8))
    }
}
