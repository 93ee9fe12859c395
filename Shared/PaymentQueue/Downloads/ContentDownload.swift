import AsyncHTTPClient
import EventTypes
import Foundation
import NIOCore
import NIOHTTP1
import StoreAPI

/// Downloads one content to a directory, even if the download is interrupted many times.
///
/// The bytes are stored in `<sha256>.part` until the content is complete and its digest is correct.
/// The file is then renamed to `<sha256>`. To pause the download, cancel the task of ``run(_:)``
/// (spec rule 120). A lost connection is retried. After a pause or the end of the process the next
/// run requests only the missing bytes (spec rule 121). ``discard()`` deletes an unfinished
/// download.
struct ContentDownload: Sendable {
    /// Sends a request and returns the head of the answer, with a body that is still to be read.
    ///
    /// If the connection goes silent, the body must end with an error. The client's `timeout.read`
    /// ensures this.
    typealias Fetch = @Sendable (HTTPClientRequest) async throws -> HTTPClientResponse

    /// The sources of time and randomness.
    struct Surroundings: Sendable {
        /// The current time, counted from any starting point.
        var now: @Sendable () -> Duration = {
            let start = ContinuousClock.Instant.now
            return { start.duration(to: .now) }
        }()
        var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        var jitter: @Sendable () -> Double = { .random(in: 0...1) }
    }

    /// The maximum size of a problem document, in bytes.
    private static let problemMax = 64 * 1024

    /// The URL of the content.
    let url: String
    /// The length of the content in bytes.
    let length: Int64
    /// The SHA-256 digest of the content.
    let digest: ContentDigest
    /// The directory to download to.
    let directory: String
    /// Returns the account's token.
    ///
    /// It is called for each request.
    let token: @Sendable () async throws -> String
    let fetch: Fetch
    var retries = DownloadRetries()
    /// The minimum time between two progress reports.
    var reportInterval: Duration = .milliseconds(100)
    var surroundings = Surroundings()

    /// The path of the complete content.
    var path: String { "\(directory)/\(digest)" }

    /// Downloads the missing bytes.
    ///
    /// - Parameter report: Called with the progress at the start, at intervals, and at the end.
    /// - Returns: The path of the content.
    /// - Throws: ``ContentDownloadError``, or `CancellationError`. After a cancellation the bytes
    ///   are kept.
    func run(_ report: @escaping @Sendable (DownloadProgress) -> Void = { _ in }) async throws
        -> String
    {
        let part = try PartFile(of: digest, in: directory)
        do {
            try await run(into: part, report)
            await part.close()
            return path
        } catch {
            await part.close()
            throw error
        }
    }

    /// Deletes the bytes of an unfinished download.
    ///
    /// A complete content is kept, because other transactions may have paid for the same content.
    ///
    /// - Throws: ``ContentDownloadError``, for example if a run is under way.
    func discard() async throws {
        let part = try PartFile(of: digest, in: directory)
        do {
            try await part.remove()
            await part.close()
        } catch {
            await part.close()
            throw error
        }
    }

    private func run(
        into part: PartFile,
        _ report: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws {
        var plan = DownloadPlan(
            length: length,
            digest: digest,
            found: try await part.length(),
            failuresMax: retries.failuresMax
        )
        var reporter = ProgressReporter(
            expected: length,
            interval: reportInterval,
            now: surroundings.now,
            report: report
        )
        reporter.reach(plan.written)
        if try await part.isWhole(path, length: length, digest: digest) {
            // An earlier run was killed before it could remove its own file.
            try await part.remove()
            reporter.finish()
            return
        }
        var step = plan.next
        while true {
            try Task.checkCancellation()
            switch step {
            case .restart:
                try await part.truncate()
                plan.restarted()
                step = plan.next
            case .ask(let offset):
                step = try await ask(from: offset, &plan, part, &reporter)
            case .wait(let failures, let atLeast):
                let delay = retries.delay(
                    afterFailures: failures,
                    jitter: surroundings.jitter()
                )
                try await surroundings.sleep(max(delay, min(atLeast, retries.ceiling)))
                step = plan.next
            case .verify:
                guard try await part.digest() == digest else {
                    try await part.remove()
                    throw ContentDownloadError(
                        .digestDiffers,
                        "the \(length) bytes are not those of the digest \(digest)"
                    )
                }
                try await part.finish(as: path)
                reporter.finish()
                return
            case .fail(let error):
                throw error
            }
        }
    }

    /// Sends one request and writes the bytes of the answer.
    private func ask(
        from offset: Int64,
        _ plan: inout DownloadPlan,
        _ part: PartFile,
        _ reporter: inout ProgressReporter
    ) async throws -> DownloadPlan.Step {
        var request = HTTPClientRequest(url: url)
        if offset > 0 {
            request.headers.add(name: "range", value: "bytes=\(offset)-")
            request.headers.add(name: "if-range", value: plan.entityTag)
        }
        do {
            request.headers.add(name: "authorization", value: "Bearer \(try await token())")
            let response = try await fetch(request)
            switch plan.answered(Self.head(of: response)) {
            case .append: break
            case .appendToNothing: try await part.truncate()
            case .refuse: return .fail(try await Self.refusal(response))
            case .ignore(let step): return step
            }
            for try await bytes in response.body {
                try plan.received(bytes.readableBytes)
                try await part.append(bytes)
                reporter.reach(plan.written)
            }
            return plan.ended()
        } catch let error as ContentDownloadError {
            throw error
        } catch {
            // A cancelled task looks like a lost connection.
            try Task.checkCancellation()
            return plan.lost("\(error)")
        }
    }

    private static func head(of response: HTTPClientResponse) -> DownloadPlan.Head {
        DownloadPlan.Head(
            status: Int(response.status.code),
            entityTag: response.headers.first(name: "etag"),
            contentRange: response.headers.first(name: "content-range"),
            retryAfter: response.headers.first(name: "retry-after").flatMap { Int64($0) }
                .map { .seconds($0) }
        )
    }

    private static func refusal(_ response: HTTPClientResponse) async throws -> ContentDownloadError
    {
        let body = try await response.body.collect(upTo: problemMax)
        // A refusal by a proxy is not a problem document. Its status is sufficient.
        let problem = try? JSONDecoder().decode(Problem.self, from: Data(body.readableBytesView))
        return ContentDownloadError(
            .refused,
            problem.map { "\($0.code): \($0.detail)" }
                ?? "the store answers with status \(response.status.code)",
            problem: problem
        )
    }
}

/// Reports progress at limited intervals.
private struct ProgressReporter {
    let expected: Int64
    let interval: Duration
    let now: @Sendable () -> Duration
    let report: @Sendable (DownloadProgress) -> Void
    private var rate = TransferRate()
    private var reported: (time: Duration, bytes: Int64)?

    init(
        expected: Int64,
        interval: Duration,
        now: @escaping @Sendable () -> Duration,
        report: @escaping @Sendable (DownloadProgress) -> Void
    ) {
        self.expected = expected
        self.interval = interval
        self.now = now
        self.report = report
    }

    mutating func reach(_ bytes: Int64) {
        let time = now()
        rate.record(bytes, at: time)
        if let reported, time - reported.time < interval { return }
        tell(bytes, at: time)
    }

    mutating func finish() { tell(expected, at: now()) }

    private mutating func tell(_ bytes: Int64, at time: Duration) {
        // After a restart the progress stays where it was instead of going back (spec rule 122).
        let shown = max(min(bytes, expected), reported?.bytes ?? 0)
        reported = (time, shown)
        report(
            DownloadProgress(
                bytesWritten: shown,
                bytesExpected: expected,
                timeRemaining: rate.time(for: expected - bytes)
            )
        )
    }
}
