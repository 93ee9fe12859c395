import Crypto
import EventTypes
import Synchronization

/// The sessions of this process, in memory and, if there is a folder for them, in files.
///
/// The browser has a random text in a cookie, and this table has only its digest. Without a folder, a
/// restart signs everybody out.
final class SessionTable: Sendable {
    /// The largest number of sessions; the one that was not used for longest makes room.
    static let countMax = 1000

    private struct State {
        var sessions: [SHA256Digest: ConsoleSession] = [:]
        /// The sessions that somebody has ended, whose files may have stayed, with the last moment
        /// at which these could open one.
        var ended: [SHA256Digest: MachineTime] = [:]
        /// The administrators who have ended all their sessions, and when.
        var endedAll: [AdministratorName: MachineTime] = [:]

        /// Whether a session from a file was ended, and its file has stayed.
        func hasEnded(_ session: ConsoleSession, _ digest: SHA256Digest) -> Bool {
            ended[digest] != nil || endedAll[session.holder].map { session.begunAt <= $0 } == true
        }
    }

    private let state = Mutex(State())
    private let folder: SessionFolder?

    /// Makes a table.
    init(in folder: SessionFolder? = nil) {
        self.folder = folder
    }

    /// Begins a session.
    ///
    /// - Parameters:
    ///   - token: The administrator's token.
    ///   - holder: The administrator.
    ///   - now: The time.
    ///   - isSandbox: Whether the store is a sandbox.
    /// - Returns: The secret for the cookie.
    func begin(
        with token: String,
        of holder: AdministratorName,
        at now: MachineTime,
        isSandbox: Bool = false
    ) -> String {
        let secret = RandomSecret.make()
        let session = ConsoleSession(
            holder: holder,
            token: token,
            csrf: RandomSecret.make(),
            begunAt: now,
            isSandbox: isSandbox,
            usedAt: now
        )
        let digest = RandomSecret.digest(of: secret)
        state.withLock { state in
            add(session, digest, to: &state.sessions)
            folder?.keep(session, with: secret)
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
        // A file is read and written under the lock, so a session that is ended does not come back.
        return state.withLock { state in
            if state.sessions[digest] == nil, let kept = folder?.session(of: secret),
                !state.hasEnded(kept, digest)
            {
                add(kept, digest, to: &state.sessions)
            }
            guard var session = state.sessions[digest] else { return nil }
            guard session.isGoingOn(at: now) else {
                state.sessions[digest] = nil
                return nil
            }
            if isUse {
                session.usedAt = now
                state.sessions[digest] = session
                folder?.keep(session, with: secret)
            }
            return session
        }
    }

    /// Adds a session; where there are too many, the one that was not used for longest makes room.
    private func add(
        _ session: ConsoleSession,
        _ digest: SHA256Digest,
        to sessions: inout [SHA256Digest: ConsoleSession]
    ) {
        if sessions.count >= Self.countMax,
            let oldest = sessions.min(by: { $0.value.usedAt < $1.value.usedAt })
        {
            sessions[oldest.key] = nil
            folder?.remove(oldest.key)
        }
        sessions[digest] = session
    }

    /// Forgets the sessions that have ended, with their tokens.
    func sweep(at now: MachineTime) {
        state.withLock { state in
            state.sessions = state.sessions.filter { $0.value.isGoingOn(at: now) }
            state.ended = state.ended.filter { $0.value > now }
            state.endedAll = state.endedAll.filter {
                now.duration(since: $0.value) < ConsoleSession.ageMax
            }
            // Under the lock, so that no file is removed that was written again meanwhile.
            folder?.sweep(at: now)
        }
    }

    /// The number of sessions in memory.
    var count: Int { state.withLock { $0.sessions.count } }

    /// Ends a session.
    func end(_ secret: String) {
        let digest = RandomSecret.digest(of: secret)
        state.withLock { state in
            if let folder, let session = state.sessions[digest] ?? folder.session(of: secret) {
                state.ended[digest] = session.begunAt.advanced(by: ConsoleSession.ageMax)
            }
            state.sessions[digest] = nil
            folder?.remove(digest)
        }
    }

    /// Ends all sessions of an administrator, also those that are in files alone.
    func endAll(of holder: AdministratorName, at now: MachineTime) {
        state.withLock { state in
            state.sessions = state.sessions.filter { $0.value.holder != holder }
            if let folder {
                state.endedAll[holder] = now
                folder.removeAll(of: holder)
            }
        }
    }
}
