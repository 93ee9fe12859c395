import AsyncHTTPClient
import EventTypes
import Logging
import NIOCore

/// Stores contents as objects of an S3-compatible store, named by a prefix and their digest.
///
/// An upload waits on the local disk until it is complete and verified, and is then sent as one
/// object. There are several reasons. Its name is its digest, which is not known earlier. A
/// rejected or truncated upload never reaches the store. The store receives the digest, and most
/// stores verify it. A failed request is retried with the same bytes. The bucket never holds parts
/// of an object. The cost is space on the disk for the uploads under way.
struct S3ContentStorage: ContentStorage {
    /// The largest object that a store accepts in one request: 5 GiB.
    static let lengthMax = 5 << 30

    let client: S3Client
    let prefix: String
    let spool: ContentSpool

    init(
        _ settings: S3Settings,
        spool: String,
        now: @escaping @Sendable () -> MachineTime,
        logger: Logger
    ) {
        client = S3Client(settings, now: now, logger: logger)
        prefix = settings.prefix
        self.spool = ContentSpool(directory: spool)
    }

    func check() async throws { try await client.check() }

    func receive<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes
    ) async throws -> any ReceivedContent where Bytes.Element == ByteBuffer {
        let spooled = try await spool.receive(bytes)
        return ReceivedObject(spooled: spooled, key: key(of: spooled.digest), client: client)
    }

    func find(_ digest: ContentDigest, length: Int64) async throws {
        let key = key(of: digest)
        let found = try await client.length(of: key)
        guard found == length else {
            throw ContentStorageError(
                .damaged,
                "\(key) has \(found) bytes and should have \(length)"
            )
        }
    }

    func open(
        _ digest: ContentDigest,
        length: Int64,
        range: Range<Int64>
    ) async throws -> any ContentReader {
        let key = key(of: digest)
        return ObjectReader(
            client: client,
            key: key,
            length: length,
            range: range,
            body: try await client.get(key, range, of: length)
        )
    }

    func remove(_ digest: ContentDigest) async throws { try await client.delete(key(of: digest)) }

    func removeLeftovers() async throws -> Int { try await spool.removeLeftovers() }

    func shutDown() async { await client.shutDown() }

    private func key(of digest: ContentDigest) -> String { prefix + digest.rawValue }
}

/// A file that was received and will become an object.
private struct ReceivedObject: ReceivedContent {
    let spooled: SpooledContent
    let key: String
    let client: S3Client

    var digest: ContentDigest { spooled.digest }
    var length: Int64 { spooled.length }

    func store() async throws {
        try await client.put(key, spooled.file, length: length, digest: digest)
    }

    func discard() async throws { try await spooled.discard() }
}

/// A part of an object, passed on as it arrives.
///
/// If it breaks off, the rest is requested again.
///
/// This also serves a client that pauses for longer than the store waits.
private struct ObjectReader: ContentReader {
    let client: S3Client
    let key: String
    let length: Int64
    let range: Range<Int64>
    let body: HTTPClientResponse.Body

    func read(_ write: (ByteBuffer) async throws -> Void) async throws {
        var rest = range
        var body = body.makeAsyncIterator()
        var failures = 0
        while !rest.isEmpty {
            let part: ByteBuffer?
            do {
                part = try await body.next()
                guard part != nil else { throw ContentStorageError(.away, "\(key) breaks off") }
            } catch {
                try Task.checkCancellation()
                failures += 1
                guard failures < S3Client.triesMax else { throw client.lost(error) }
                try await client.pause(afterFailures: failures)
                body = try await client.get(key, rest, of: length).makeAsyncIterator()
                continue
            }
            guard let part, part.readableBytes <= rest.count else {
                throw ContentStorageError(.damaged, "\(key) is longer than its record says")
            }
            failures = part.readableBytes > 0 ? 0 : failures
            try await write(part)
            rest = (rest.lowerBound + Int64(part.readableBytes))..<rest.upperBound
        }
        // Reads to the very end, so that the connection can be reused. All needed bytes have
        // arrived.
        _ = try? await body.next()
    }
}
