import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import Postgres
import ServiceKit
import TestSupport
import Testing

@testable import Receipts

/// The App Store Server API over HTTP, with tokens and a database.
@Suite(.timeLimit(.minutes(10))) struct ServerAPIRoutesTests {
    private let chain: TestChain
    private let servers: TestServers

    init() throws {
        chain = try TestChain()
        servers = try TestServers()
    }

    private func withStore(
        requestsPerSecond: Int = 1000,
        laterChain: TestChain? = nil,
        _ body: @escaping @Sendable (ServerAPIUnderTest) async throws -> Void
    ) async throws {
        try await ServerAPIUnderTest.with(
            chain,
            servers,
            requestsPerSecond: requestsPerSecond,
            laterChain: laterChain,
            body
        )
    }

    @Test func aTransactionIsServedToItsAppAndToNoOther() async throws {
        let other = try servers.token(bundle: "com.other.app")
        try await withStore { store in
            try await store.buy(purchased(1_000_001))
            let found = try await store.send(.get, "v1/transactions/1000001")
            let jws = try #require(found.body["signedTransactionInfo"] as? String)
            #expect(throws: Never.self) {
                try ReceiptVerifier(root: try chain.signingChain().rootCertificate)
                    .payload(of: jws)
            }
            let hidden = try await store.send(.get, "v1/transactions/1000001", token: other)
            let unknown = try await store.send(.get, "v1/transactions/1000002", token: other)
            #expect(hidden.status == 404 && unknown.status == 404)
            #expect(NSDictionary(dictionary: hidden.body) == NSDictionary(dictionary: unknown.body))
            for (id, code) in [("abc", 4_000_006), ("01", 4_000_006), ("0", 4_000_006)] {
                #expect(try await store.code(.get, "v1/transactions/\(id)") == code)
            }
            for path in ["v1/history", "v2/history", "v2/refund/lookup", "v1/subscriptions"] {
                let answer = try await store.send(.get, "\(path)/1000001", token: other)
                #expect(answer.status == 404)
                #expect(answer.body["errorCode"] as? Int == 4_040_010)
            }
        }
    }

    @Test func aHistoryHasEachTransactionOnceInTheOrderOfItsLastChange() async throws {
        try await withStore { store in
            for number in Int64(1_000_001)...1_000_045 {
                try await store.buy(purchased(number))
            }
            try await store.buy(purchased(1_000_900, account: "bob"))
            let refund = purchased(
                1_000_003,
                version: 3,
                revokedAt: TestChain.now.advanced(by: .seconds(-1))
            )
            try await store.receipts.apply([try .of(.transactionRefunded, refund)])
            let wanted =
                (Int64(1_000_001)...1_000_045).filter { $0 != 1_000_003 }.map { "\($0)" }
                + ["1000003"]
            let pages = try await store.walk("v2/history/1000007")
            #expect(pages.map(\.count) == [20, 20, 5])
            #expect(pages.flatMap { $0 } == wanted)
            let backwards = try await store.walk("v2/history/1000007?sort=DESCENDING")
            #expect(backwards.flatMap { $0 } == wanted.reversed())
            #expect(try await store.walk("v2/refund/lookup/1000045") == [["1000003"]])
            #expect(
                try await store.walk("v2/history/1000001?revoked=true").flatMap { $0 }
                    == ["1000003"]
            )
        }
    }

    @Test func anEmptyPageTokenIsNone() async throws {
        try await withStore { store in
            try await store.buy(purchased(1_000_001))
            #expect(try await store.walk("v2/history/1000001?revision=") == [["1000001"]])
        }
    }

    @Test func theFirstHistoryLosesConsumablesAsTheyAreFinished() async throws {
        try await withStore { store in
            let pro = purchased(1_000_002, type: .nonConsumable)
            try await store.buy(purchased(1_000_001), pro, purchased(1_000_003))
            try await store.receipts.apply([
                try .finished(purchased(1_000_001), at: TestChain.now),
                try .finished(pro, at: TestChain.now),
            ])
            #expect(
                try await store.walk("v1/history/1000001") == [["1000002", "1000003"]]
            )
            #expect(
                try await store.walk("v2/history/1000001") == [["1000001", "1000002", "1000003"]]
            )
        }
    }

    @Test func anAccountTokenIsSignedIntoThePurchaseItsCopiesAndItsRefund() async throws {
        let token = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"
        let body = "{\"appAccountToken\":\"\(token)\"}"
        try await withStore { store in
            let copy = purchased(
                1_000_002,
                originalNumber: 1_000_001,
                state: .restored,
                type: .nonConsumable
            )
            try await store.buy(
                purchased(1_000_001, type: .nonConsumable),
                copy,
                purchased(1_000_003)
            )
            for _ in 1...2 {
                let path = "v1/transactions/1000001/appAccountToken"
                #expect(try await store.send(.put, path, body: body).status == 200)
            }
            #expect(try await store.payload(1_000_001).appAccountToken == token.lowercased())
            #expect(try await store.payload(1_000_002).appAccountToken == token.lowercased())
            #expect(try await store.payload(1_000_003).appAccountToken == nil)
            let refund = purchased(
                1_000_001,
                version: 3,
                type: .nonConsumable,
                applicationUsername: UUID().uuidString,
                revokedAt: TestChain.now.advanced(by: .seconds(-1))
            )
            try await store.receipts.apply([try .of(.transactionRefunded, refund)])
            let refunded = try await store.payload(1_000_001)
            #expect(refunded.appAccountToken == token.lowercased())
            #expect(refunded.revocationDate != nil)
            #expect(
                try await store.walk("v2/history/1000001")
                    == [["1000003", "1000002", "1000001"]],
                "What was signed anew has changed last."
            )
            for (id, body, code) in [
                ("1000001", "{\"appAccountToken\":\"me\"}", 4_000_183),
                ("1000001", "{\"appAccountToken\":7}", 4_000_183), ("1000001", "{}", 4_000_183),
                ("1000001", "nonsense", 4_000_000), ("1000002", body, 4_000_187),
                ("1000009", body, 4_040_010), ("x", body, 4_000_006),
            ] {
                let path = "v1/transactions/\(id)/appAccountToken"
                #expect(try await store.code(.put, path, body: body) == code)
            }
        }
    }

    @Test func theAppTransactionNamesTheCustomerEverywhere() async throws {
        try await withStore { store in
            try await store.buy(purchased(1_000_001), purchased(1_000_002))
            try await store.buy(purchased(1_000_003, account: "bob"))
            let id = try #require(try await store.payload(1_000_001).appTransactionId)
            #expect(try await store.payload(1_000_002).appTransactionId == id)
            #expect(try await store.payload(1_000_003).appTransactionId != id)
            #expect(try await store.walk("v2/history/\(id)") == [["1000001", "1000002"]])
            #expect(try await store.code(.get, "v1/transactions/\(id)") == 4_000_048)
            #expect(
                try await store.code(.get, "v1/transactions/appTransactions/799999999999999999")
                    == 4_040_010
            )
            let answer = try await store.send(.get, "v1/transactions/appTransactions/\(id)")
            let jws = try #require(answer.body["signedAppTransactionInfo"] as? String)
            let bytes = try #require(StrictBase64.decode(jws.split(separator: ".")[1]))
            let payload = try #require(
                try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
            )
            #expect(payload["appTransactionId"] as? String == id)
            #expect(payload["appAppleId"] as? Int == 1_234_567_890)
            #expect(payload["receiptType"] as? String == "Sandbox")
            #expect(payload["bundleId"] as? String == "com.example.app")
        }
    }

    @Test func anOrderLeadsToWhatWasPaidForInThisApp() async throws {
        let other = try servers.token(bundle: "com.other.app")
        try await withStore { store in
            let copy = purchased(1_000_002, originalNumber: 1_000_001, state: .restored)
            let next = purchased(1_000_003, originalNumber: 1_000_001, reason: .unknown("renewal"))
            try await store.buy(purchased(1_000_001), copy, next)
            let ofNext = OrderID(TransactionID(number: 1_000_003))
            #expect(
                try await store.send(.get, "v1/lookup/\(ofNext)").body["status"] as? Int == 0,
                "It was charged, though an earlier transaction is its original."
            )
            let path = "v1/lookup/\(OrderID(TransactionID(number: 1_000_001)))"
            let found = try await store.send(.get, path)
            #expect(found.body["status"] as? Int == 0)
            #expect((found.body["signedTransactions"] as? [String])?.count == 1)
            let ofCopy = OrderID(TransactionID(number: 1_000_002))
            for (path, token) in [
                (path, other), ("v1/lookup/\(ofCopy)", nil), ("v1/lookup/W000YGJ16", nil),
                ("v1/lookup/nonsense", nil),
            ] {
                let answer = try await store.send(.get, path, token: token)
                #expect(answer.status == 200)
                #expect(answer.body["status"] as? Int == 1)
                #expect((answer.body["signedTransactions"] as? [String])?.isEmpty == true)
            }
        }
    }

    @Test func subscriptionsAreAnsweredAsOfAStoreThatSellsNone() async throws {
        try await withStore { store in
            try await store.buy(purchased(1_000_001))
            let answer = try await store.send(.get, "v1/subscriptions/1000001?status=1&status=5")
            #expect(answer.status == 200)
            #expect((answer.body["data"] as? [Any])?.isEmpty == true)
            #expect(answer.body["appAppleId"] as? Int == 1_234_567_890)
            #expect(try await store.code(.get, "v1/subscriptions/1000001?status=6") == 4_000_031)
        }
    }

    @Test func aTransactionOfAnotherLeafIsSignedAgainWhenServed() async throws {
        let later = try TestChain()
        try await withStore(laterChain: later) { store in
            try await store.buy(purchased(1_000_001))
            let answer = try await store.send(.get, "v1/transactions/1000001")
            let jws = try #require(answer.body["signedTransactionInfo"] as? String)
            #expect(throws: Never.self) {
                try ReceiptVerifier(root: try later.signingChain().rootCertificate)
                    .payload(of: jws)
            }
        }
    }

    @Test func whatAnotherServiceHasNotAnsweredMayBeTriedAgain() async throws {
        let one = "v1/subscriptions/extend"
        try await withStore { store in
            let code = try await store.code(.post, "v1/transactions/1000001/finish")
            #expect(code == 5_000_001)
            #expect(try await store.code(.put, "\(one)/1000001", body: "{}") == 5_000_001)
            #expect(try await store.code(.post, "\(one)/mass", body: "{}") == 5_000_001)
            #expect(try await store.code(.get, "\(one)/mass/pro/r-1") == 5_000_001)
        }
    }
}
