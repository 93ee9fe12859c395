package import EventArchive
package import Messaging
package import Seals

/// A failure of a log, of its seals or of its files, described in one line.
package protocol LogFailure: Error {
    /// The problem, and what to do about it.
    var message: String { get }
}

extension MessagingError: LogFailure {}

extension SealError: LogFailure {}

extension ArchiveError: LogFailure {}
