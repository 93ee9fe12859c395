import EventTypes
import NIOCore
import ServiceKit

/// The storage of the bytes of hosted contents, each under its SHA-256.
///
/// Bytes are first received without a name. Once they are verified, they are stored under their
/// digest. Stored bytes that were never recorded are removed by their digest.
/// ``HostedContentHandler`` knows which these are. The storage does not.
protocol ContentStorage: Sendable {
    /// Checks that contents can be stored, as far as possible without storing one.
    ///
    /// - Throws: ``ContentStorageError`` with the reason if they cannot.
    func check() async throws

    /// Receives bytes and stores them durably.
    ///
    /// - Throws: ``ContentStorageError``, or any error of the sequence. No bytes are left then.
    func receive<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes
    ) async throws -> any ReceivedContent where Bytes.Element == ByteBuffer

    /// Checks that a content exists.
    ///
    /// - Throws: ``ContentStorageError`` if it is missing or has another length.
    func find(_ digest: ContentDigest, length: Int64) async throws

    /// Opens a part of a content.
    ///
    /// - Throws: ``ContentStorageError`` if it is missing or has another length.
    func open(
        _ digest: ContentDigest,
        length: Int64,
        range: Range<Int64>
    ) async throws -> any ContentReader

    /// Removes a content.
    ///
    /// A missing one is not an error.
    ///
    /// - Throws: ``ContentStorageError``
    func remove(_ digest: ContentDigest) async throws

    /// Removes uploads of processes that were killed, and leaves those of running processes.
    ///
    /// - Returns: The number of uploads removed.
    /// - Throws: ``ContentStorageError``
    func removeLeftovers() async throws -> Int

    /// Closes connections, once no more reads or writes are made.
    func shutDown() async
}

/// Bytes that were received.
protocol ReceivedContent: Sendable {
    var digest: ContentDigest { get }
    var length: Int64 { get }
    /// Makes the bytes durable under their digest, replacing equal bytes that exist already.
    ///
    /// It may be repeated.
    func store() async throws
    /// Releases the received bytes.
    ///
    /// Bytes that were stored stay.
    func discard() async throws
}

/// A part of one content, open for reading.
protocol ContentReader: Sendable {
    /// Passes the bytes on in pieces, each after the previous one has been processed.
    ///
    /// Call it only once.
    ///
    /// - Throws: ``ContentStorageError`` if there are fewer bytes, or any error of `write`.
    func read(_ write: (ByteBuffer) async throws -> Void) async throws
}

/// A failure of the storage of contents.
struct ContentStorageError: Error, CustomStringConvertible {
    /// The kinds of failure.
    struct Code: Hashable, Sendable, CustomStringConvertible {
        let description: String
        /// There is not enough space for the bytes.
        static let full = Code(description: "full")
        /// Recorded bytes are not in the storage.
        static let missing = Code(description: "missing")
        /// The stored bytes are not the recorded ones.
        static let damaged = Code(description: "damaged")
        /// The storage cannot be reached or is too busy.
        ///
        /// A retry may succeed.
        static let away = Code(description: "away")
        /// The content is being removed at the moment, because an earlier upload of it failed.
        static let removing = Code(description: "removing")
        /// The storage refuses for another reason, which the message contains.
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

/// An unavailable or busy storage is answered with 503 and a time to try again.
extension ContentStorageError: RetriableError {
    var isRetriable: Bool { code == .away || code == .removing }
}
