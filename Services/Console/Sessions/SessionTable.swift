import Crypto
import EventTypes
import Synchronization

/// The sessions of this process, in memory.
///
/// The browser has a random text in a cookie, and this table has only its digest. A restart signs
/// everybody out.
final class SessionTable: Sendable {
    /// The largest number of sessions; the one that was not used for longest makes room.
    static let countMax = 1000

    private let sessions = Mutex<[SHA256Digest: ConsoleSession]>([:])

    /// Begins a session.
    ///
    /// - Parameters:
    ///   - token: The administrator's token.
    ///   - now: The time.
    ///   - isSandbox: Whether the store is a sandbox.
    /// - Returns: The secret for the cookie.
    func begin(with token: String, at now: MachineTime, isSandbox: Bool = false) -> String {
        let secret = RandomSecret.make()
        let session = ConsoleSession(
            token: token,
            csrf: RandomSecret.make(),
            begunAt: now,
            isSandbox: isSandbox,
            usedAt: now
        )
        sessions.withLock { sessions in
            if sessions.count >= Self.countMax,
                let oldest = sessions.min(by: { $0.value.usedAt < $1.value.usedAt })
            {
                sessions[oldest.key] = nil
            }
            sessions[RandomSecret.digest(of: secret)] = session
        }
        return secret
    }

    /// The session of a cookie's secret.
    ///
    /// - Parameters:
    ///   - secret: The secret of the cookie.
    ///   - now: The time.
    ///   - isUse: Whether a person asks; a page that follows its data by itself prolongs nothing.
    /// - Returns: The session; `nil` if there is none, or it has ended.
    func session(of secret: String, at now: MachineTime, isUse: Bool = true) -> ConsoleSession? {
        let digest = RandomSecret.digest(of: secret)
        return sessions.withLock { sessions in
            guard let session = sessions[digest] else { return nil }
            guard session.isGoingOn(at: now) else {
                sessions[digest] = nil
                return nil
            }
            if isUse { sessions[digest]?.usedAt = now }
            return session
        }
    }

    /// Forgets the sessions that have ended, with their tokens.
    func sweep(at now: MachineTime) {
        sessions.withLock { $0 = $0.filter { $0.value.isGoingOn(at: now) } }
    }

    /// The number of sessions in memory.
    var count: Int { sessions.withLock(\.count) }

    /// Ends a session.
    func end(_ secret: String) {
        sessions.withLock { $0[RandomSecret.digest(of: secret)] = nil }
    }
}
