import AsyncHTTPClient
import EventTypes
import Logging
import Messaging
import NIOCore
import NIOHTTP1

/// Puts, gets and deletes objects of one bucket of an S3-compatible store.
///
/// The bucket is part of the path, which self-hosted stores require and others accept. Every
/// operation may be repeated, so it is retried a few times if the store is unavailable or busy.
struct S3Client: Sendable {
    /// A request about one object of the bucket.
    private struct Request {
        var method: HTTPMethod
        var key: String
        var headers: HTTPHeaders = [:]
        var payload = S3Signer.emptyPayload
        var body: HTTPClientRequest.Body?
        /// The time limit for everything except the body of the response.
        var limit: TimeAmount
    }

    static let triesMax = 4
    /// The limit for the length of an error document.
    private static let failureMax = 64 * 1024
    /// The time limit for sending an object, as long as it progresses.
    private static let putMax = TimeAmount.hours(6)

    private let settings: S3Settings
    private let host: String
    private let signer: S3Signer
    private let http: HTTPClient
    private let now: @Sendable () -> MachineTime
    private let logger: Logger
    private let retries = RetryPolicy(base: .milliseconds(100), ceiling: .seconds(2))

    init(_ settings: S3Settings, now: @escaping @Sendable () -> MachineTime, logger: Logger) {
        self.settings = settings
        self.now = now
        self.logger = logger
        host = settings.endpoint.split(separator: "/").last.map { String($0) } ?? ""
        signer = S3Signer(
            accessKey: settings.accessKey,
            secretKey: settings.secretKey,
            region: settings.region
        )
        var configuration = HTTPClient.Configuration()
        // The store's own code records spans of calls and sets `traceparent`.
        configuration.tracing.tracer = nil
        // A redirect would send a signed request to an address that is not configured.
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = Self.amount(min(settings.timeout, .seconds(10)))
        configuration.timeout.read = Self.amount(settings.timeout)
        configuration.timeout.write = Self.amount(settings.timeout)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            settings.connectionsMax
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Stores an object completely or not at all.
    ///
    /// Most stores verify the bytes against the digest.
    ///
    /// - Throws: ``ContentStorageError``
    func put(_ key: String, _ file: ContentFile, length: Int64, digest: ContentDigest)
        async throws
    {
        let request = Request(
            method: .PUT,
            key: key,
            headers: ["content-type": "application/octet-stream"],
            payload: digest,
            body: .stream(file.bytes(in: 0..<length), length: .known(length)),
            limit: Self.putMax
        )
        _ = try await send(request)
    }

    /// Returns the length of an object.
    ///
    /// - Throws: ``ContentStorageError``, with the code `missing` if there is no such object.
    func length(of key: String) async throws -> Int64 {
        let response = try await send(request(.HEAD, key))
        let length = response.headers.first(name: "content-length").flatMap { Int64($0) }
        guard let length else { throw unexpected("no length of \(key)") }
        return length
    }

    /// Streams a part of an object, after checking the object's total length.
    ///
    /// - Throws: ``ContentStorageError``, with the code `missing` if there is no such object.
    func get(
        _ key: String,
        _ range: Range<Int64>,
        of length: Int64
    ) async throws -> HTTPClientResponse.Body {
        var request = request(.GET, key)
        let last = range.upperBound - 1
        request.headers.add(name: "range", value: "bytes=\(range.lowerBound)-\(last)")
        let response = try await send(request)
        let part = response.headers.first(name: "content-range")
        guard part == "bytes \(range.lowerBound)-\(last)/\(length)" else {
            let found = part ?? "no range (status \(response.status.code))"
            throw ContentStorageError(.damaged, "\(key) should have \(length) bytes; got \(found)")
        }
        return response.body
    }

    /// Removes an object.
    ///
    /// A missing one is not an error.
    ///
    /// It ends within ``S3Settings/removalMax``, all retries included, even if the store hangs.
    ///
    /// - Throws: ``ContentStorageError``
    func delete(_ key: String) async throws {
        let request = request(.DELETE, key)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    _ = try await send(request)
                } catch let error as ContentStorageError where error.code == .missing {
                    // Most stores report a missing object as removed.
                }
            }
            group.addTask {
                try await Task.sleep(for: settings.removalMax)
                throw ContentStorageError(
                    .away,
                    "\(settings.endpoint) has not removed \(key) in \(settings.removalMax)"
                )
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Checks that the store accepts the keys and has the bucket.
    ///
    /// - Throws: ``ContentStorageError`` with the reason if not.
    func check() async throws {
        do {
            _ = try await send(request(.GET, settings.prefix + "nothing"))
        } catch let error as ContentStorageError where error.code == .missing {
            // Only a store that has the bucket and accepts the keys can say that the object is
            // missing.
        }
    }

    func shutDown() async {
        // No more requests are made. The system closes a connection that does not close by itself.
        try? await http.shutdown()
    }

    // MARK: - One request

    private func request(_ method: HTTPMethod, _ key: String) -> Request {
        Request(method: method, key: key, limit: Self.amount(settings.timeout))
    }

    private func send(_ request: Request) async throws -> HTTPClientResponse {
        var failures = 0
        while true {
            do {
                return try await sendOnce(request)
            } catch let error as ContentStorageError where error.code == .away {
                failures += 1
                guard failures < Self.triesMax else {
                    // The client is answered with 503, which is not logged.
                    logger.warning("the store of contents fails", metadata: ["error": "\(error)"])
                    throw error
                }
                try await pause(afterFailures: failures)
            }
        }
    }

    /// Waits before the next retry.
    func pause(afterFailures failures: Int) async throws {
        try await Task.sleep(
            for: retries.delay(afterFailures: failures, jitter: .random(in: 0...1))
        )
    }

    private func sendOnce(_ request: Request) async throws -> HTTPClientResponse {
        let path = "/\(settings.bucket)/\(request.key)"
        let time = S3Signer.time(now())
        let signed = [
            "host": host, "x-amz-content-sha256": request.payload.rawValue, "x-amz-date": time,
        ]
        var message = HTTPClientRequest(url: settings.endpoint + path)
        message.method = request.method
        message.headers = request.headers
        for (name, value) in signed { message.headers.add(name: name, value: value) }
        message.headers.add(
            name: "authorization",
            value: signer.authorization(
                request.method.rawValue,
                path,
                headers: signed,
                payload: request.payload,
                time: time
            )
        )
        message.body = request.body
        let response: HTTPClientResponse
        do {
            response = try await http.execute(message, deadline: .now() + request.limit)
        } catch let error as ContentStorageError {
            throw error  // The file to send failed.
        } catch {
            try Task.checkCancellation()
            throw lost(error)
        }
        guard (200..<300).contains(response.status.code) else {
            throw S3Failure.error(
                status: Int(response.status.code),
                document: await document(of: response),
                of: "\(request.method.rawValue) \(path)",
                in: settings
            )
        }
        return response
    }

    /// Returns the error for a store that does not answer, or whose answer breaks off.
    func lost(_ error: any Error) -> ContentStorageError {
        ContentStorageError(.away, "\(settings.endpoint) does not answer: \(error)")
    }

    private func unexpected(_ what: String) -> ContentStorageError {
        ContentStorageError(.unusable, "\(settings.endpoint) answers unexpectedly: \(what)")
    }

    private func document(of response: HTTPClientResponse) async -> String {
        // The status is enough if there is no document, or if it does not arrive.
        let body = try? await response.body.collect(upTo: Self.failureMax)
        return body.map { String(buffer: $0) } ?? ""
    }

    private static func amount(_ duration: Duration) -> TimeAmount {
        .milliseconds(duration.milliseconds)
    }
}
