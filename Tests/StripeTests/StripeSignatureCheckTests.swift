import EventTypes
import Testing

@testable import Stripe

@Suite struct StripeSignatureCheckTests {
    private static let body = #"{"id":"evt_1","object":"event"}"#
    private static let secret = "whsec_test_secret_1"
    private static let seconds: Int64 = 1_700_000_000
    /// HMAC-SHA256 of the time, a dot and the body, made with OpenSSL.
    private static let signature =
        "504274bf60b8afd92f43b5956c7ac5dc4c3160940488dc5836fcb1c4df4c4a05"

    private static let now = MachineTime(millisecondsSinceEpoch: seconds * 1000)

    private func verdict(
        _ header: String?,
        body: String = body,
        secrets: [String] = [secret],
        now: MachineTime = now
    ) -> StripeSignatureCheck.Verdict {
        StripeSignatureCheck(secrets: secrets.map { StripeSecret($0) })
            .check(Array(body.utf8), header: header, now: now)
    }

    @Test func aSignatureThatOpenSSLMadeIsGenuine() {
        #expect(verdict("t=1700000000,v1=\(Self.signature)") == .genuine)
        #expect(verdict("t=1700000000, v1=\(Self.signature)") == .genuine)
    }

    @Test func oneFittingPairOfSignatureAndSecretIsEnough() {
        let wrong = String(repeating: "0", count: 64)
        let header = "t=1700000000,v1=\(wrong),v0=\(wrong),v1=\(Self.signature)"
        #expect(verdict(header, secrets: ["whsec_another_one", Self.secret]) == .genuine)
        #expect(verdict(header, secrets: ["whsec_another_one"]) == .forged)
    }

    @Test func aChangedBodyTimeOrSchemeIsForged() {
        let good = "t=1700000000,v1=\(Self.signature)"
        #expect(verdict(good, body: Self.body + " ") == .forged)
        #expect(verdict("t=1700000001,v1=\(Self.signature)") == .forged)
        #expect(verdict("t=01700000000,v1=\(Self.signature)") == .forged)
        #expect(verdict(good, secrets: []) == .forged)
    }

    @Test(arguments: [(-301, false), (-300, true), (300, true), (301, false)])
    func aSignatureIsValidForFiveMinutes(seconds: Int64, isRecent: Bool) {
        let now = Self.now.advanced(by: .seconds(seconds))
        let verdict = verdict("t=1700000000,v1=\(Self.signature)", now: now)
        #expect(verdict == (isRecent ? .genuine : .stale))
    }

    @Test(arguments: [
        nil, "", "t=1700000000", "v1=\(signature)", "t=,v1=\(signature)", "t=x,v1=\(signature)",
        "t=-1,v1=\(signature)", "t=1700000000,v0=\(signature)", "t=1700000000,v1=abc",
        "t=1700000000,t=1700000000,v1=\(signature)", "t=9223372036854775807,v1=\(signature)",
        "t=1700000000,v1=\(signature)00", "t=1700000000,v1=Ä\(signature.dropFirst(2))",
    ])
    func aHeaderThatCannotBeReadIsRefused(_ header: String?) {
        #expect(verdict(header) == .malformed)
    }

    @Test func aFileHasASecretInEveryLine() throws {
        let check = try StripeSignatureCheck(lines: "whsec_another_one\n\(Self.secret)\n")
        let header = "t=1700000000,v1=\(Self.signature)"
        #expect(check.check(Array(Self.body.utf8), header: header, now: Self.now) == .genuine)
        for text in ["", "secret", "whsec_", "whsec_another_one\nrk_live_abcdefghi"] {
            #expect(throws: WebhookSecretsError.self) { try StripeSignatureCheck(lines: text) }
        }
    }
}
