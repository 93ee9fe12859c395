import Crypto
package import EventTypes
import Foundation

/// Checks that a webhook comes from Stripe, and that it is not an old one sent again.
///
/// The header `Stripe-Signature` is `t=<seconds>,v1=<hex>,v1=<hex>`. Each `v1` is HMAC-SHA256 of
/// the time, a dot and the body's bytes as they arrived. While a secret is being replaced there are
/// two secrets, so a body is accepted if one signature fits one secret.
package struct StripeSignatureCheck: Sendable {
    /// The result of a check.
    package enum Verdict: Hashable, Sendable {
        /// The body is Stripe's, and recent.
        case genuine
        /// The header is missing or cannot be read.
        case malformed
        /// No signature fits any secret.
        case forged
        /// The signature fits, and its time is too far from the machines' clock.
        case stale
    }

    /// The greatest difference between the time of a signature and the machines' clock.
    package static let tolerance = Duration.seconds(300)
    /// The greatest number of signatures that are tried.
    private static let signaturesMax = 8

    private let keys: [SymmetricKey]

    /// Makes a check with every secret that is in use.
    package init(secrets: [StripeSecret]) {
        keys = secrets.map { SymmetricKey(data: Array($0.text.utf8)) }
    }

    /// Reads the secrets of a file: one a line.
    ///
    /// - Throws: ``WebhookSecretsError``
    package init(lines text: String) throws {
        let secrets = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard !secrets.isEmpty, secrets.allSatisfy({ $0.hasPrefix("whsec_") && $0.count >= 14 })
        else { throw WebhookSecretsError() }
        self.init(secrets: secrets.map { StripeSecret($0) })
    }

    /// Checks a body.
    ///
    /// - Parameters:
    ///   - body: The bytes as they arrived.
    ///   - header: The header `Stripe-Signature`.
    ///   - now: The machines' time.
    /// - Returns: ``Verdict/genuine``, or the reason against it.
    package func check(_ body: some Sequence<UInt8>, header: String?, now: MachineTime) -> Verdict {
        guard let header, let parts = Parts(header) else { return .malformed }
        let signed = Array("\(parts.timeText).".utf8) + Array(body)
        var isGenuine = false
        // Every pair is tried, so that the time of the check says nothing about where it ended.
        for signature in parts.signatures.prefix(Self.signaturesMax) {
            for key in keys
            where HMAC<SHA256>.isValidAuthenticationCode(
                signature,
                authenticating: signed,
                using: key
            ) {
                isGenuine = true
            }
        }
        guard isGenuine else { return .forged }
        let age = now.millisecondsSinceEpoch - parts.seconds * 1000
        let limit = Self.tolerance.components.seconds * 1000
        return abs(age) <= limit ? .genuine : .stale
    }

    /// The parts of the header.
    private struct Parts {
        /// The time as it stands in the header, because these characters are signed.
        let timeText: Substring
        let seconds: Int64
        let signatures: [[UInt8]]

        init?(_ header: String) {
            var times: [Substring] = []
            var signatures: [[UInt8]] = []
            for item in header.split(separator: ",") {
                let pair = item.split(separator: "=", maxSplits: 1)
                guard pair.count == 2 else { continue }
                switch pair[0].trimmingCharacters(in: .whitespaces) {
                case "t": times.append(pair[1])
                case "v1": if let bytes = Self.bytes(ofHex: pair[1]) { signatures.append(bytes) }
                default: break  // A scheme that is not ours, such as the v0 of test events.
                }
            }
            // Twelve digits cannot overflow when they are counted in milliseconds.
            guard times.count == 1, (1...12).contains(times[0].utf8.count),
                let seconds = Int64(times[0]), seconds >= 0, !signatures.isEmpty
            else { return nil }
            timeText = times[0]
            self.seconds = seconds
            self.signatures = signatures
        }

        private static func bytes(ofHex text: Substring) -> [UInt8]? {
            let digits = text.compactMap(\.hexDigitValue)
            guard digits.count == 64, text.utf8.count == 64 else { return nil }
            return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
        }
    }
}

/// A file of webhook secrets that has none, or a line that is none.
package struct WebhookSecretsError: Error, Hashable, CustomStringConvertible {
    package var description: String { "every line must be a secret that begins with whsec_" }
}
