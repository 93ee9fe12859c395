/// The outcome of a try to call a merchant's endpoint, with the names of Apple's
/// `sendAttemptResult`.
public enum CallbackResult: String, Hashable, Sendable, CaseIterable {
    /// The recipient answered with a status that confirms the call.
    case success = "SUCCESS"
    case timedOut = "TIMED_OUT"
    case tlsIssue = "TLS_ISSUE"
    case circularRedirect = "CIRCULAR_REDIRECT"
    case noResponse = "NO_RESPONSE"
    case socketIssue = "SOCKET_ISSUE"
    case unsupportedCharset = "UNSUPPORTED_CHARSET"
    case invalidResponse = "INVALID_RESPONSE"
    case prematureClose = "PREMATURE_CLOSE"
    /// The recipient answered with another status.
    ///
    /// Redirects count too, because none is followed.
    case unsuccessfulStatus = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    case other = "OTHER"
}
