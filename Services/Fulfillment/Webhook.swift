import EventTypes
import Foundation

/// A webhook that a sender has taken on: one try of one delivery.
struct Webhook: Hashable, Sendable {
    let transactionID: TransactionID
    /// Its target in the deliveries ledger: `1:webhook`.
    let target: String
    /// Which try this is, from 1.
    let attempt: Int
    let url: String
    let host: String
    let queue: QueueKey
    let state: TransactionState
    let snapshot: TransactionSnapshot

    /// The delivery's identity, the same at every try.
    var id: String { "delivery_\(transactionID)_\(target.prefix { $0 != ":" })" }

    /// What is sent: what happened, the transaction, and the target it is owed to.
    func body() throws -> [UInt8] {
        let type =
            state == .restored ? EventType.transactionRestored : EventType.transactionPurchased
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var body = Array("{\"target\":".utf8)
        body.append(contentsOf: try encoder.encode(DeliveryTarget.webhook(url: url)))
        body.append(contentsOf: ",\"transaction\":".utf8)
        body.append(contentsOf: snapshot.bytes)
        body.append(contentsOf: ",\"type\":\"\(type)\"}".utf8)
        return body
    }
}

/// How a try of a webhook ended, by the names of Apple's `sendAttemptResult`.
enum WebhookResult: String, Hashable, Sendable, CaseIterable {
    /// Answered with 2xx: the delivery is confirmed.
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

/// What a try of a webhook came to, as it is recorded.
struct WebhookOutcome: Hashable, Sendable {
    let webhook: Webhook
    let result: WebhookResult
    let time: Timestamp
    /// When the next try is due, unless this one was the last.
    let nextAttemptAt: Timestamp
}

/// The addresses of webhooks.
///
/// Pure.
enum WebhookAddress {
    /// The host that an address leads to, in lower case and with its port, by which senders share
    /// themselves out; the whole address where it names none.
    static func host(of url: String) -> String {
        guard let components = URLComponents(string: url), let host = components.host else {
            return url
        }
        return host.lowercased() + (components.port.map { ":\($0)" } ?? "")
    }
}
