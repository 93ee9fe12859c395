import EventTypes
import Foundation
import Testing

@testable import Fulfillment

@Suite struct HostedContentRulesTests {
    private let content = HostedContent.sample()

    private func decision(
        _ state: TransactionState = .purchased,
        isFinished: Bool = false,
        isRevoked: Bool = false,
        isDelivered: Bool = true,
        identifier: String = "level.1",
        from queue: QueueKey = .sample()
    ) -> HostedContentRules.Decision {
        HostedContentRules.download(
            ProductID(unchecked: identifier),
            of: QueuedTransaction(
                id: TransactionID(number: 1),
                queue: .sample(),
                version: 2,
                state: state,
                revokedAt: isRevoked ? startOfTime : nil,
                isDelivered: isDelivered,
                finishedAt: isFinished ? startOfTime : nil,
                contents: nil
            ),
            carrying: [content],
            from: queue
        )
    }

    @Test func anUnfinishedPurchaseOrRestoreDownloads() {
        for isDelivered in [true, false] {
            #expect(decision(.purchased, isDelivered: isDelivered) == .download(content))
            #expect(decision(.restored, isDelivered: isDelivered) == .download(content))
        }
    }

    @Test func aFinishedTransactionDownloadsNothingWhateverItIs() {
        for state in [TransactionState.purchased, .restored, .failed] {
            #expect(decision(state, isFinished: true) == .refused(.finished))
        }
        #expect(decision(isFinished: true, isRevoked: true) == .refused(.finished))
    }

    @Test func whatIsNotPaidOrPaidBackDownloadsNothing() {
        #expect(decision(.purchasing) == .refused(.purchasing))
        #expect(decision(.deferred) == .refused(.deferred))
        #expect(decision(.failed) == .refused(.failed))
        #expect(decision(.unknown("quarantined")) == .refused(.unknownState))
        #expect(decision(isRevoked: true) == .refused(.revoked))
    }

    @Test func anotherAccountsTransactionDownloadsNothing() {
        #expect(decision(from: .sample("bob")) == .refused(.unknown))
        #expect(decision(isFinished: true, from: .sample("bob")) == .refused(.unknown))
        let other = QueueKey(
            accountID: AccountID(unchecked: "alice"),
            bundleID: BundleID(unchecked: "com.example.other")
        )
        #expect(decision(from: other) == .refused(.unknown))
        #expect(
            HostedContentRules.download(
                content.contentIdentifier,
                of: nil,
                carrying: [],
                from: .sample()
            ) == .refused(.unknown)
        )
    }

    @Test func onlyWhatTheTransactionCarriesIsDownloaded() {
        #expect(decision(identifier: "level.2") == .refused(.noContent))
    }

    @Test func aDigestIsClaimedByHexadecimalDigitsOrByReprDigestAndOnce() {
        let bytes = Data(0..<32)
        let digest = ContentDigest(bytes: bytes)
        let field = "sha-256=:\(bytes.base64EncodedString()):"
        let claim = HostedContentRules.claim
        #expect(digest.rawValue.hasPrefix("000102030405") && digest.rawValue.hasSuffix("1e1f"))
        #expect(claim(nil, nil) == .none)
        #expect(claim(digest.rawValue, nil) == .digest(digest))
        #expect(claim(digest.rawValue.uppercased(), nil) == .digest(digest))
        #expect(claim(nil, field) == .digest(digest))
        #expect(claim(nil, "sha-512=:AAAA:, \(field)") == .digest(digest))
        #expect(claim(nil, "sha-512=:AAAA:") == .none)
        #expect(claim(digest.rawValue, field) == .digest(digest))
        let other = ContentDigest(bytes: bytes.reversed()).rawValue
        for malformed in ["", "00", other.dropLast() + "g", other + "0"] {
            #expect(claim(String(malformed), nil) == .malformed)
        }
        for malformed in ["sha-256=", "sha-256=:AAAA:", "sha-256=\(other)", "sha-256=::"] {
            #expect(claim(nil, malformed) == .malformed)
        }
        #expect(claim(other, field) == .malformed)
    }

    @Test func aContentsVersionIsFitToBeASegmentOfAPath() {
        for version in ["1", "1.0", "2026-11-21", "v2_final", "1..0"] {
            #expect(ContentVersion(rawValue: version) != nil)
        }
        for version in [
            "", ".", "..", "-1", "_", "1/0", "1 0", "١", String(repeating: "1", count: 65),
        ] {
            #expect(ContentVersion(rawValue: version) == nil)
        }
    }
}
