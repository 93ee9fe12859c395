import AsyncHTTPClient
import EventTypes
import Foundation
import NIOCore
import NIOHTTP1
import StoreAPI

/// Downloads one content to a directory, however often it is interrupted.
///
/// The bytes are in `<sha256>.part` until all are there and their digest is right; then the file is
/// named `<sha256>`. Cancelling the task of ``run(_:)`` is a pause (spec rule 120), a lost
/// connection is waited out, and a killed process is no more than either: the next run asks for the
/// bytes that are missing (spec rule 121). ``discard()`` throws away what is
/// there of an unfinished one.
struct ContentDownload: Sendable {
    /// Sends a request and returns the answer's head, with its body to be read.
    ///
    /// A body whose connection says nothing any more has to end with an error: the client's
    /// `timeout.read` does that.
    typealias Fetch = @Sendable (HTTPClientRequest) async throws -> HTTPClientResponse

    /// What is random or takes time.
    struct Surroundings: Sendable {
        /// The time, counted from any start.
        var now: @Sendable () -> Duration = {
            let start = ContinuousClock.Instant.now
            return { start.duration(to: .now) }
        }()
        var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        var jitter: @Sendable () -> Double = { .random(in: 0...1) }
    }

    /// The largest problem that is read.
    private static let problemMax = 64 * 1024

    /// Where the content is.
    let url: String
    /// How many bytes it has.
    let length: Int64
    /// SHA-256 of its bytes.
    let digest: ContentDigest
    /// Where it goes.
    let directory: String
    /// Gives the account's token, at every request anew.
    let token: @Sendable () async throws -> String
    let fetch: Fetch
    var retries = DownloadRetries()
    /// The least time between two reports of progress.
    var reportInterval: Duration = .milliseconds(100)
    var surroundings = Surroundings()

    /// Where the content is once it is there.
    var path: String { "\(directory)/\(digest)" }

    /// Downloads what is missing.
    ///
    /// - Parameter report: Told how far it is: at the start, now and then, and at the end.
    /// - Returns: The path of the content.
    /// - Throws: ``ContentDownloadError``, or `CancellationError` after which the bytes are kept.
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

    /// Throws away what is there of an unfinished download; a whole content stays, since other
    /// transactions may have paid for the same one.
    ///
    /// - Throws: ``ContentDownloadError``, also while a run is under way.
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
            // An earlier run was killed before it could say so.
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

    /// Asks once and writes what comes.
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
            // A pause looks like a lost connection.
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
        // A proxy's refusal is no problem document; its status says enough.
        let problem = try? JSONDecoder().decode(Problem.self, from: Data(body.readableBytesView))
        return ContentDownloadError(
            .refused,
            problem.map { "\($0.code): \($0.detail)" }
                ?? "the store answers with status \(response.status.code)",
            problem: problem
        )
    }
}

/// Reports progress, and not too often.
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
        // After a restart the bar stands still rather than going back (spec rule 122).
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
