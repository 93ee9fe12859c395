import Crypto
import EventTypes
import Logging
import Synchronization

/// The files of the sessions, by which a session outlives a restart of the console.
///
/// A file is named after the digest of its cookie's secret.
final class SessionFolder: Sendable {
    /// The longest time between a request and the file that tells of it.
    static let noteInterval: Duration = .seconds(60)
    private static let ending = ".session"

    private let folder: StateFolder
    private let logger: Logger
    private let written = Mutex<[SHA256Digest: MachineTime]>([:])
    private let sweptAt = Mutex<MachineTime?>(nil)

    init(_ folder: StateFolder, logger: Logger) {
        self.folder = folder
        self.logger = logger
    }

    /// Keeps a session, unless its last use was kept a moment ago.
    func keep(_ session: ConsoleSession, with secret: String) {
        let digest = RandomSecret.digest(of: secret)
        let isDue = written.withLock { written in
            if let last = written[digest],
                session.usedAt.duration(since: last) < Self.noteInterval
            {
                return false
            }
            written[digest] = session.usedAt
            return true
        }
        guard isDue else { return }
        do {
            try folder.write(try SealedSession(session, with: secret), to: Self.name(of: digest))
        } catch {
            // The session goes on in memory; a restart will ask for another ticket.
            logger.warning("a session could not be kept", metadata: ["error": "\(error)"])
        }
    }

    /// The session of a cookie's secret, from its file.
    func session(of secret: String) -> ConsoleSession? {
        folder.read(SealedSession.self, from: Self.name(of: RandomSecret.digest(of: secret)))?
            .opened(with: secret)
    }

    /// Removes the file of a session.
    func remove(_ digest: SHA256Digest) {
        written.withLock { $0[digest] = nil }
        remove(Self.name(of: digest))
    }

    /// Removes the files of all sessions of an administrator.
    func removeAll(of holder: AdministratorName) {
        for name in folder.names(ending: Self.ending)
        where folder.read(SealedSession.self, from: name)?.holder == holder {
            remove(name)
        }
    }

    private func remove(_ name: String) {
        do {
            try folder.remove(name)
        } catch {
            // The table knows that it has ended; after a restart its file would open it again.
            logger.error("a session's file stays", metadata: ["error": "\(error)"])
        }
    }

    /// Removes the files of sessions that have ended, and those that cannot be read, once a minute.
    func sweep(at now: MachineTime) {
        let isDue = sweptAt.withLock { sweptAt in
            if let last = sweptAt, now.duration(since: last) < Self.noteInterval { return false }
            sweptAt = now
            return true
        }
        guard isDue else { return }
        written.withLock { written in
            written = written.filter { now.duration(since: $0.value) < ConsoleSession.pauseMax }
        }
        for name in folder.names(ending: Self.ending)
        where folder.read(SealedSession.self, from: name)?.isGoingOn(at: now) != true {
            remove(name)
        }
    }

    private static func name(of digest: SHA256Digest) -> String {
        digest.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined() + ending
    }
}
