/// How a try to call a merchant's endpoint ended, by the names of Apple's `sendAttemptResult`.
public enum CallbackResult: String, Hashable, Sendable, CaseIterable {
    /// Answered with a status that confirms it.
    case success = "SUCCESS"
    case timedOut = "TIMED_OUT"
    case tlsIssue = "TLS_ISSUE"
    case circularRedirect = "CIRCULAR_REDIRECT"
    case noResponse = "NO_RESPONSE"
    case socketIssue = "SOCKET_ISSUE"
    case unsupportedCharset = "UNSUPPORTED_CHARSET"
    case invalidResponse = "INVALID_RESPONSE"
    case prematureClose = "PREMATURE_CLOSE"
    /// Answered with another status; a redirect is one, for none is followed.
    case unsuccessfulStatus = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    case other = "OTHER"
}
