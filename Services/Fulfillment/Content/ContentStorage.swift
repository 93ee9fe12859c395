import EventTypes
import NIOCore
import ServiceKit

/// Where the bytes of hosted contents are, each under its SHA-256.
///
/// Bytes are taken in first, under no name; once they are known to be what was meant they are kept.
/// What was kept and never came on record is removed by its digest; ``HostedContentHandler`` knows
/// which that is, the storage does not.
protocol ContentStorage: Sendable {
    /// Tells whether contents can be stored, as far as that shows without storing one.
    ///
    /// - Throws: ``ContentStorageError`` that says what is wrong.
    func check() async throws

    /// Takes bytes in, durably.
    ///
    /// - Throws: ``ContentStorageError``, or what the sequence throws; nothing is left then.
    func receive<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes
    ) async throws -> any ReceivedContent where Bytes.Element == ByteBuffer

    /// Finds what is kept.
    ///
    /// - Throws: ``ContentStorageError``: missing, or not of this length.
    func find(_ digest: ContentDigest, length: Int64) async throws

    /// Opens a part of what is kept.
    ///
    /// - Throws: ``ContentStorageError``: missing, or not of this length.
    func open(
        _ digest: ContentDigest,
        length: Int64,
        range: Range<Int64>
    ) async throws -> any ContentReader

    /// Removes what is kept; what is gone already is no failure.
    ///
    /// - Throws: ``ContentStorageError``
    func remove(_ digest: ContentDigest) async throws

    /// Removes what killed processes were taking in, and leaves what living ones are.
    ///
    /// - Returns: How much was removed.
    /// - Throws: ``ContentStorageError``
    func removeLeftovers() async throws -> Int

    /// Lets go of connections, once nothing is read or written any more.
    func shutDown() async
}

/// Bytes that were taken in.
protocol ReceivedContent: Sendable {
    var digest: ContentDigest { get }
    var length: Int64 { get }
    /// Makes the bytes durable under their digest; equal ones that are there are replaced.
    ///
    /// It may be done again.
    func keep() async throws
    /// What was taken in is of no more use; what was kept stays.
    func discard() async throws
}

/// A part of one content, open for reading.
protocol ContentReader: Sendable {
    /// Hands the bytes on in pieces, the next once the one before is dealt with.
    ///
    /// Once.
    ///
    /// - Throws: ``ContentStorageError`` if there are fewer, or what `write` throws.
    func read(_ write: (ByteBuffer) async throws -> Void) async throws
}

/// The storage of contents fails.
struct ContentStorageError: Error, CustomStringConvertible {
    /// The kinds of failure.
    struct Code: Hashable, Sendable, CustomStringConvertible {
        let description: String
        /// There is no room for the bytes.
        static let full = Code(description: "full")
        /// What is on record is not stored.
        static let missing = Code(description: "missing")
        /// What is stored is not what is on record.
        static let damaged = Code(description: "damaged")
        /// The storage cannot be reached, or is too busy; another time may do.
        static let away = Code(description: "away")
        /// The content is being removed at this moment, for an earlier upload that failed.
        static let removing = Code(description: "removing")
        /// The storage refuses for another reason; the message has it.
        static let unusable = Code(description: "unusable")
    }

    let code: Code
    let message: String

    var description: String { "\(code): \(message)" }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// A storage that is away or busy is answered with 503 and a time to try again.
extension ContentStorageError: RetriableError {
    var isRetriable: Bool { code == .away || code == .removing }
}
