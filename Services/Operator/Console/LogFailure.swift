import EventArchive
import Messaging
import Seals

/// A failure of a log, of its seals or of its files, that is told in one line.
protocol LogFailure: Error {
    /// What is wrong and what to do.
    var message: String { get }
}

extension MessagingError: LogFailure {}

extension SealError: LogFailure {}

extension ArchiveError: LogFailure {}
