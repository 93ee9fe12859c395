import EventTypes

/// What a download does next: the state machine behind ``ContentDownload``.
///
/// Pure: it is told what happened and says what to do.
struct DownloadPlan: Hashable, Sendable {
    /// What to do next.
    enum Step: Hashable, Sendable {
        /// Throw away what is there, and ask for everything.
        case restart
        /// Ask for the bytes from an offset on.
        case ask(from: Int64)
        /// Wait, by the number of failures without a byte between them; longer, if the store says
        /// so. Then ask on.
        case wait(failures: Int, atLeast: Duration)
        /// All bytes are there: compare their digest.
        case verify
        /// There is no going on.
        case fail(ContentDownloadError)
    }

    /// What to do with an answer.
    enum Answer: Hashable, Sendable {
        /// Its body follows what is there.
        case append
        /// Its body is everything: throw away what is there first.
        case appendToNothing
        /// Its body is a problem that there is no going on with.
        case refuse
        /// Its body says nothing.
        case ignore(Step)
    }

    /// What the head of an answer says.
    struct Head: Hashable, Sendable {
        var status: Int
        var entityTag: String?
        var contentRange: String?
        var retryAfter: Duration?
    }

    let length: Int64
    let digest: ContentDigest
    /// How many failures in a row, without a byte between them, are the last.
    let failuresMax: Int
    /// How many bytes are there.
    private(set) var written: Int64
    private(set) var failures = 0
    /// Whether the last token was refused.
    private var isTokenRefused = false

    /// Plans a download.
    ///
    /// - Parameters:
    ///   - length: The length of the content.
    ///   - digest: Its digest.
    ///   - found: How many bytes are there from before.
    ///   - failuresMax: How many failures in a row are the last.
    init(length: Int64, digest: ContentDigest, found: Int64, failuresMax: Int) {
        self.length = length
        self.digest = digest
        self.failuresMax = failuresMax
        written = found
    }

    /// The tag that the store gives this content.
    var entityTag: String { "\"\(digest)\"" }

    /// What to do first, or after a wait.
    var next: Step {
        if written > length { return .restart }
        return written == length ? .verify : .ask(from: written)
    }

    /// What is there was thrown away.
    mutating func restarted() { written = 0 }

    /// The store has answered a wish for the bytes from ``written`` on.
    mutating func answered(_ head: Head) -> Answer {
        switch head.status {
        case 200:
            guard isOurs(head.entityTag) else { return .ignore(.fail(changed)) }
            if written == 0 { return .append }
            written = 0
            return .appendToNothing
        case 206:
            // It may end sooner than asked for; the rest is asked for then.
            guard isOurs(head.entityTag), let range = head.contentRange,
                range.hasPrefix("bytes \(written)-"), range.hasSuffix("/\(length)")
            else { return .ignore(.fail(changed)) }
            return .append
        case 416:
            return .ignore(.fail(changed))
        case 401 where !isTokenRefused:
            // The token may have run out on its way; the next try has another.
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

    /// Bytes have come and are about to be written.
    ///
    /// - Throws: ``ContentDownloadError`` if they are more than there may be.
    mutating func received(_ count: Int) throws(ContentDownloadError) {
        guard Int64(count) <= length - written else { throw changed }
        guard count > 0 else { return }
        written += Int64(count)
        failures = 0
        isTokenRefused = false
    }

    /// The body has ended; with a connection that closes early, too soon.
    mutating func ended() -> Step {
        written == length ? .verify : failed("the connection ended", atLeast: .zero)
    }

    /// There was no answer, or the connection was lost.
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

    /// A store that does not tell is taken at its word; the digest has the last one.
    private func isOurs(_ entityTag: String?) -> Bool {
        entityTag == nil || entityTag == self.entityTag
    }

    private var changed: ContentDownloadError {
        ContentDownloadError(
            .answerUnexpected,
            "the store sends another content than the one of \(length) bytes that was asked for"
        )
    }
}

/// How long a download waits before it asks again, and how often it does.
struct DownloadRetries: Hashable, Sendable {
    /// The wait after the first failure; it doubles from failure to failure.
    var base: Duration = .milliseconds(500)
    /// The longest wait.
    var ceiling: Duration = .seconds(60)
    /// How many failures in a row, without a byte between them, are the last.
    var failuresMax = 10

    /// The wait after a number of failures.
    ///
    /// - Parameters:
    ///   - failures: From 1.
    ///   - jitter: From 0 to 1: half of the wait is left to it, so that clients do not come back
    ///     together.
    /// - Returns: The wait.
    func delay(afterFailures failures: Int, jitter: Double) -> Duration {
        var delay = base
        for _ in 1..<max(failures, 1) where delay < ceiling { delay *= 2 }
        delay = min(delay, ceiling)
        return delay / 2 + (delay / 2) * min(max(jitter, 0), 1)
    }
}
