import Foundation

/// The lock of the console's folder, by which two consoles never share one.
///
/// It is held as long as the value lives, and ends with the process.
final class StateLock: Sendable {
    private let descriptor: Int32

    /// Makes the folder if there is none, and takes its lock.
    ///
    /// - Throws: ``Failure`` if another console has it; an error of the file system.
    init(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let file = path + "/lock"
        let opened = Foundation.open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw Failure(path: file, reason: Self.reason) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno == EWOULDBLOCK ? "another console works with it" : Self.reason
            Foundation.close(opened)
            throw Failure(path: file, reason: reason)
        }
        descriptor = opened
    }

    deinit { Foundation.close(descriptor) }

    /// A lock that cannot be taken.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let reason: String

        var description: String { "CONSOLE_STATE_DIRECTORY: \(path) cannot be locked: \(reason)" }
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
