import EventTypes

/// The state machine of ``ContentDownload``, which decides what a download does next.
///
/// It is pure: it receives events and returns the next step.
struct DownloadPlan: Hashable, Sendable {
    /// The next step of a download.
    enum Step: Hashable, Sendable {
        /// Discard the existing bytes and request all of them.
        case restart
        /// Request the bytes from an offset on.
        case ask(from: Int64)
        /// Wait, then request the missing bytes. The wait depends on the number of failures in a
        /// row without a received byte, and is at least as long as the store asks for.
        case wait(failures: Int, atLeast: Duration)
        /// All bytes have arrived: compare their digest.
        case verify
        /// The download cannot continue.
        case fail(ContentDownloadError)
    }

    /// The treatment of an answer's body.
    enum Answer: Hashable, Sendable {
        /// Append the body to the existing bytes.
        case append
        /// The body is the whole content: discard the existing bytes first.
        case appendToNothing
        /// The body describes a problem that ends the download.
        case refuse
        /// Ignore the body and take this step.
        case ignore(Step)
    }

    /// The relevant fields of an answer's head.
    struct Head: Hashable, Sendable {
        var status: Int
        var entityTag: String?
        var contentRange: String?
        var retryAfter: Duration?
    }

    let length: Int64
    let digest: ContentDigest
    /// The number of failures in a row without a received byte after which the download fails.
    let failuresMax: Int
    /// The number of bytes written so far.
    private(set) var written: Int64
    private(set) var failures = 0
    /// Whether the last token was refused.
    private var isTokenRefused = false

    /// Plans a download.
    ///
    /// - Parameters:
    ///   - length: The length of the content.
    ///   - digest: Its digest.
    ///   - found: The number of bytes left by an earlier run.
    ///   - failuresMax: The number of failures in a row after which the download fails.
    init(length: Int64, digest: ContentDigest, found: Int64, failuresMax: Int) {
        self.length = length
        self.digest = digest
        self.failuresMax = failuresMax
        written = found
    }

    /// The tag that the store gives this content.
    var entityTag: String { "\"\(digest)\"" }

    /// The first step, and the next step after a wait.
    var next: Step {
        if written > length { return .restart }
        return written == length ? .verify : .ask(from: written)
    }

    /// Records that the existing bytes were discarded.
    mutating func restarted() { written = 0 }

    /// Handles the store's answer to a request for the bytes from ``written`` on.
    mutating func answered(_ head: Head) -> Answer {
        switch head.status {
        case 200:
            guard isOurs(head.entityTag) else { return .ignore(.fail(changed)) }
            if written == 0 { return .append }
            written = 0
            return .appendToNothing
        case 206:
            // The answer may contain less than requested. The rest is requested afterwards.
            guard isOurs(head.entityTag), let range = head.contentRange,
                range.hasPrefix("bytes \(written)-"), range.hasSuffix("/\(length)")
            else { return .ignore(.fail(changed)) }
            return .append
        case 416:
            return .ignore(.fail(changed))
        case 401 where !isTokenRefused:
            // The token may have expired on the way. The next attempt uses another one.
            isTokenRefused = true
            return .ignore(failed("status 401", atLeast: .zero))
        case 408, 425, 429, 500...:
            return .ignore(failed("status \(head.status)", atLeast: head.retryAfter ?? .zero))
        case 400..<500:
            return .refuse
        default:
            return .ignore(
                .fail(
                    ContentDownloadError(
                        .answerUnexpected,
                        "the store answers with status \(head.status)"
                    )
                )
            )
        }
    }

    /// Checks bytes that have arrived and are about to be written.
    ///
    /// - Throws: ``ContentDownloadError`` if the content would become too long.
    mutating func received(_ count: Int) throws(ContentDownloadError) {
        guard Int64(count) <= length - written else { throw changed }
        guard count > 0 else { return }
        written += Int64(count)
        failures = 0
        isTokenRefused = false
    }

    /// Handles the end of the body.
    ///
    /// If the connection closed early, the body is incomplete.
    mutating func ended() -> Step {
        written == length ? .verify : failed("the connection ended", atLeast: .zero)
    }

    /// Handles a missing answer or a lost connection.
    mutating func lost(_ reason: String) -> Step { failed(reason, atLeast: .zero) }

    private mutating func failed(_ reason: String, atLeast: Duration) -> Step {
        failures += 1
        guard failures < failuresMax else {
            return .fail(
                ContentDownloadError(
                    .notReachable,
                    "the store fails for the \(failures)th time in a row: \(reason)"
                )
            )
        }
        return .wait(failures: failures, atLeast: atLeast)
    }

    /// A store that sends no entity tag is trusted here.
    ///
    /// The digest is checked at the end.
    private func isOurs(_ entityTag: String?) -> Bool {
        entityTag == nil || entityTag == self.entityTag
    }

    private var changed: ContentDownloadError {
        ContentDownloadError(
            .answerUnexpected,
            "the store sent other content than the requested \(length) bytes"
        )
    }
}

/// The waits and the number of a download's retries.
struct DownloadRetries: Hashable, Sendable {
    /// The wait after the first failure.
    ///
    /// It doubles with each failure.
    var base: Duration = .milliseconds(500)
    /// The longest wait.
    var ceiling: Duration = .seconds(60)
    /// The number of failures in a row without a received byte after which the download fails.
    var failuresMax = 10

    /// The wait after a number of failures.
    ///
    /// - Parameters:
    ///   - failures: The number of failures, from 1.
    ///   - jitter: A number from 0 to 1 that determines half of the wait.
    /// - Returns: The wait.
    func delay(afterFailures failures: Int, jitter: Double) -> Duration {
        RetryDelay(base: base, ceiling: ceiling).after(failures, jitter: jitter)
    }
}
