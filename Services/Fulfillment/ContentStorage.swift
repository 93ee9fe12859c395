import EventTypes
import NIOCore

/// Where the bytes of hosted contents are, each under its SHA-256.
///
/// Bytes are taken in first, under no name; once they are known to be what was meant they are kept;
/// and once the database has them on record the taking-in is over. A process that is killed in
/// between leaves something that ``removeLeftovers(unless:)`` finds.
protocol ContentStorage: Sendable {
    /// Takes bytes in, durably.
    ///
    /// - Throws: ``ContentStorageError``, or what the sequence throws; nothing is left then.
    func receive<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes
    ) async throws -> any ReceivedContent where Bytes.Element == ByteBuffer

    /// Opens what is kept.
    ///
    /// - Throws: ``ContentStorageError``: missing, or not of this length.
    func open(_ digest: ContentDigest, length: Int64) async throws -> any ContentReader

    /// Removes what killed processes left, and leaves what living ones are about.
    ///
    /// - Parameter isOnRecord: Whether the database knows the content.
    /// - Returns: How much was removed.
    /// - Throws: ``ContentStorageError``, or what `isOnRecord` throws.
    func removeLeftovers(
        unless isOnRecord: @Sendable (ContentDigest) async throws -> Bool
    ) async throws -> Int
}

/// Bytes that were taken in and are not on record yet.
protocol ReceivedContent: Sendable {
    var digest: ContentDigest { get }
    var length: Int64 { get }
    /// Makes the bytes durable under their digest; equal ones that are there are replaced.
    func keep() async throws
    /// The content is on record: nothing is left to be cleaned up.
    func settle() async throws
    /// The bytes are not wanted.
    func discard() async throws
}

/// One content that is open for reading.
protocol ContentReader: Sendable {
    /// Reads as many bytes as asked for.
    ///
    /// - Throws: ``ContentStorageError`` if there are fewer.
    func read(at offset: Int64, count: Int) async throws -> ByteBuffer
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
        /// What is stored is not as long as what is on record.
        static let damaged = Code(description: "damaged")
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
