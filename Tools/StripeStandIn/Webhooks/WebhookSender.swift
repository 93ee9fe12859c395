import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1

/// Sends events as Stripe sends webhooks: signed, again until they are taken, and in no sure order.
package struct WebhookSender: Sendable {
    /// An event to send.
    struct Delivery: Sendable {
        let id: String
        let body: String
    }

    let webhooks: StandInOptions.Webhooks
    /// The time in seconds since 1970.
    let now: @Sendable () -> Int64

    /// The header `Stripe-Signature` of a body, signed with each of the secrets.
    package static func signature(
        of body: String,
        at seconds: Int64,
        secrets: [String]
    ) -> String {
        let signatures = secrets.map { secret in
            let code = HMAC<SHA256>.authenticationCode(
                for: Array("\(seconds).\(body)".utf8),
                using: SymmetricKey(data: Array(secret.utf8))
            )
            return "v1="
                + code.map { byte in
                    let hex = String(byte, radix: 16)
                    return hex.count == 1 ? "0" + hex : hex
                }.joined()
        }
        return (["t=\(seconds)"] + signatures).joined(separator: ",")
    }

    /// Sends events that are due together.
    ///
    /// - Returns: The number of webhooks that were taken.
    func send(_ deliveries: [Delivery]) async -> Int {
        var taken = 0
        for delivery in webhooks.isReversed ? deliveries.reversed() : deliveries {
            for _ in 0..<(webhooks.isDoubled ? 2 : 1) {
                if await send(delivery) { taken += 1 }
            }
        }
        return taken
    }

    private func send(_ delivery: Delivery) async -> Bool {
        var pause = webhooks.retryPause
        for number in 0..<webhooks.triesMax {
            let url = webhooks.urls[number % webhooks.urls.count]
            if await isTaken(delivery, at: url) { return true }
            do { try await Task.sleep(for: pause) } catch { return false }
            pause = pause * 2
        }
        return false
    }

    private func isTaken(_ delivery: Delivery, at url: String) async -> Bool {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json; charset=utf-8")
        request.headers.add(
            name: "stripe-signature",
            value: Self.signature(
                of: delivery.body,
                at: now() - webhooks.age,
                secrets: webhooks.secrets
            )
        )
        request.body = .bytes(Array(delivery.body.utf8))
        // Whoever does not answer has not taken it, and gets it again.
        let response = try? await HTTPClient.shared.execute(request, timeout: .seconds(10))
        return response.map { (200..<300).contains($0.status.code) } ?? false
    }
}
