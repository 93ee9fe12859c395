import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Postgres
import ReceiptValidation
import StoreAPI
import SwiftASN1
import Testing

@testable import Receipts

/// The content of the app receipt, and its verification (spec rules 78 to 88).
@Suite(.timeLimit(.minutes(10))) struct AppReceiptTests {
    private let chain: SigningChain

    init() throws { chain = try TestChain().signingChain() }

    @Test func opensslAndADeviceAcceptTheReceipt() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1), purchased(2, type: .nonConsumable, quantity: 1))
            let bytes = try await store.receipt()
            let seconds = TestChain.now.millisecondsSinceEpoch / 1000
            let (content, reason) = try OpenSSL.content(
                of: bytes,
                root: chain.rootCertificate,
                at: seconds
            )
            let found = try #require(content, "\(reason)")
            let expected = AppReceiptContent(
                account: AppReceiptsUnderTest.alice.account,
                bundleID: AppReceiptsUnderTest.alice.bundle,
                environment: .sandbox,
                question: AppReceiptQuestion(),
                entries: try await store.reader.entries(of: AppReceiptsUnderTest.alice)
            )
            #expect(found == expected.encoded(at: TestChain.now))
            let other = try OpenSSL.content(
                of: bytes,
                root: try TestChain().signingChain().rootCertificate,
                at: seconds
            )
            #expect(other.content == nil)

            let receipt = try store.validator().appReceipt(bytes)
            #expect(receipt.bundleID == "com.example.app")
            #expect(receipt.createdAt == TestChain.now.date)
            #expect(receipt.purchases.map(\.transactionID) == ["1", "2"])
            #expect(receipt.purchases.map(\.quantity) == [3, 1])
            #expect(receipt.purchases[0].productID == "coins.100")
            #expect(receipt.purchases[0].purchasedAt == purchased().purchasedAt?.date)
        }
    }

    @Test func itHoldsEverythingButFinishedConsumables() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            let types: [ProductType] = [
                .consumable, .nonConsumable, .autoRenewableSubscription, .nonRenewingSubscription,
            ]
            let bought = zip(1..., types).map { purchased(Int64($0), type: $1) }
            try await store.events.apply(try bought.map { try .of(.transactionPurchased, $0) })
            try await store.buy(
                purchased(5),
                purchased(6, account: "bob"),
                purchased(7, bundle: "com.other.app")
            )
            #expect(
                try await store.read().purchases.map(\.transactionID) == ["1", "2", "3", "4", "5"]
            )
            try await store.events.apply(
                try bought.map { try .finished($0, at: TestChain.now) }
            )
            #expect(try await store.read().purchases.map(\.transactionID) == ["2", "3", "4", "5"])
        }
    }

    @Test func aRestoredCopyTakesThePlaceOfItsOriginal() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            let first = purchased(1, type: .nonConsumable, quantity: 1)
            let restored = purchased(2, originalNumber: 1, state: .restored, type: .nonConsumable)
            try await store.buy(first)
            try await store.events.apply([try .of(.transactionRestored, restored)])
            let receipt = try await store.read()
            #expect(receipt.purchases.map(\.transactionID) == ["2"])
            #expect(receipt.purchases.map(\.originalTransactionID) == ["1"])
        }
    }

    @Test func askedForAgainItSaysTheSame() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.events.apply(
                try (1...20).map { try .of(.transactionPurchased, purchased($0)) }
            )
            var question = AppReceiptQuestion()
            question.deviceID = Array("0123456789abcdef".utf8)
            let first = try await store.read(question)
            #expect(first.isOf(deviceID: question.deviceID))
            #expect(!first.isOf(deviceID: []))
            let rows = try await store.events.count("SELECT count(*) FROM signed_transactions")
            for _ in 1...5 {
                #expect(try await store.read(question) == first)
            }
            // A day later, everything is the same except the date of issue.
            let later = try AppReceiptsUnderTest(
                store.events.client,
                chain: chain,
                now: TestChain.now.advanced(by: .seconds(86_400))
            )
            let next = try await later.read(question)
            #expect(next.createdAt == first.createdAt + 86_400)
            #expect(next.purchases == first.purchases)
            #expect(next.isOf(deviceID: question.deviceID))
            // The requests created nothing (spec rule 80).
            let rowsAfter = try await store.events.count("SELECT count(*) FROM signed_transactions")
            #expect(rowsAfter == rows)
        }
    }

    @Test func itIsOneMomentOfTheDatabaseWhilePurchasesCommit() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            // Each commit has ten purchases. A receipt contains all ten or none of them (trap 49).
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for batch in 0..<20 {
                        let numbers = (batch * 10 + 1)...(batch * 10 + 10)
                        try await store.events.apply(
                            try numbers.map {
                                try .of(.transactionPurchased, purchased(Int64($0)))
                            }
                        )
                    }
                }
                var counts: Set<Int> = []
                while counts.max() != 200 {
                    // Without signing, so that nearly every commit meets a reader.
                    counts.insert(
                        try await store.reader.entries(of: AppReceiptsUnderTest.alice).count
                    )
                }
                #expect(counts.allSatisfy { $0.isMultiple(of: 10) }, "\(counts.sorted())")
                try await group.waitForAll()
            }
        }
    }

    @Test func itsSetsAreInTheOrderOfDER() async throws {
        /// Parsed by a library that refuses a set in another order.
        struct Attribute: DERParseable {
            let type: Int
            let value: ASN1OctetString

            init(derEncoded node: ASN1Node) throws {
                (type, value) = try DER.sequence(node, identifier: .sequence) { nodes in
                    let type = try Int(derEncoded: &nodes)
                    _ = try Int(derEncoded: &nodes)
                    return (type, try ASN1OctetString(derEncoded: &nodes))
                }
            }
        }
        func set(_ bytes: some Sequence<UInt8>) throws -> [Attribute] {
            try DER.set(of: Attribute.self, identifier: .set, rootNode: try DER.parse(Array(bytes)))
        }
        let long = String(repeating: "a", count: 200)
        var entries: [AppReceiptEntry] = []
        for number in [1, 99_999, 5, 70_000_000_000] as [Int64] {
            var entry = try AppReceiptEntry(
                payload: try SignedTransactionPayload(
                    purchased(number),
                    environment: .sandbox,
                    signedAt: TestChain.now
                ).encoded()
            )
            entry.productId = ProductID(unchecked: "\(long).\(number)")
            entry.quantity = Int(number)
            entries.append(entry)
        }
        let content = AppReceiptContent(
            account: AccountID(unchecked: "alice"),
            bundleID: BundleID(unchecked: "com.example.\(long)"),
            environment: .production,
            question: AppReceiptQuestion(),
            entries: entries
        )
        let attributes = try set(content.encoded(at: TestChain.now))
        #expect(attributes.map(\.type).sorted() == [0, 2, 3, 4, 5, 12, 17, 17, 17, 17, 19])
        var quantities: Set<Int> = []
        for purchase in attributes where purchase.type == 17 {
            let fields = try set(purchase.value.bytes)
            #expect(fields.map(\.type).sorted() == [1701, 1702, 1703, 1704, 1705, 1706, 1707])
            let quantity = try #require(fields.first { $0.type == 1701 })
            quantities.insert(try Int(derEncoded: try DER.parse(Array(quantity.value.bytes))))
        }
        #expect(quantities == [1, 99_999, 5, 70_000_000_000])
    }

    @Test(arguments: [
        (AppReceiptQuery.expired, "true"), (AppReceiptQuery.revoked, "true"),
        (AppReceiptQuery.volumePurchase, "true"),
    ])
    func aTestReceiptIsMadeInTheSandboxOnly(_ name: String, _ value: String) async throws {
        let keys = try TokenKeys()
        let token = try keys.account("alice")
        let uri = "\(Routes.appReceipt)?\(name)=\(value)"
        for environment in StoreEnvironment.allCases {
            try await AppReceiptsUnderTest.with(chain: chain, environment: environment) { store in
                try await store.buy(purchased(1))
                try await store.withHTTP(keys: keys) { http in
                    try await http.execute(
                        uri: uri,
                        method: .get,
                        headers: [.authorization: "Bearer \(token)"]
                    ) { response in
                        guard environment == .sandbox else {
                            #expect(response.status == .badRequest)
                            #expect(
                                String(buffer: response.body).contains("receipt_property_refused")
                            )
                            return
                        }
                        #expect(response.status == .ok)
                        let receipt = try store.validator().appReceipt(
                            Array(buffer: response.body)
                        )
                        #expect(
                            receipt.isExpired(at: TestChain.now.date)
                                == (name == AppReceiptQuery.expired)
                        )
                        #expect(
                            (receipt.purchases[0].cancelledAt != nil)
                                == (name == AppReceiptQuery.revoked)
                        )
                        #expect(
                            receipt.isVolumePurchase == (name == AppReceiptQuery.volumePurchase)
                        )
                    }
                }
            }
        }
    }

    @Test func theAccountIsServedItsReceiptAndNobodyElse() async throws {
        let keys = try TokenKeys()
        let token = try keys.account("alice")
        let device = UUID()
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1), purchased(2, account: "bob"))
            try await store.withHTTP(keys: keys) { http in
                try await http.execute(uri: Routes.appReceipt, method: .get) { response in
                    #expect(response.status == .unauthorized)
                }
                try await http.execute(
                    uri: "\(Routes.appReceipt)?device=\(device)&applicationVersion=2.0",
                    method: .get,
                    headers: [.authorization: "Bearer \(token)"]
                ) { response in
                    #expect(response.status == .ok)
                    #expect(
                        response.headers[.contentType]?.hasPrefix("application/pkcs7-mime") == true
                    )
                    let receipt = try store.validator().appReceipt(
                        Array(buffer: response.body),
                        deviceID: withUnsafeBytes(of: device.uuid) { Array($0) }
                    )
                    #expect(receipt.purchases.map(\.transactionID) == ["1"])
                    #expect(receipt.applicationVersion == "2.0")
                }
                for query in ["device=1", "applicationVersion=", "expired=1", "expire=true"] {
                    try await http.execute(
                        uri: "\(Routes.appReceipt)?\(query)",
                        method: .get,
                        headers: [.authorization: "Bearer \(token)"]
                    ) { response in
                        #expect(response.status == .badRequest)
                    }
                }
            }
        }
    }

    @Test func whileTheDatabaseIsAwayTheAnswerIsToTryAgain() async throws {
        let keys = try TokenKeys()
        let token = try keys.account("alice")
        try await AppReceiptsUnderTest.withoutDatabase(chain: chain).withHTTP(keys: keys) { http in
            try await http.execute(
                uri: Routes.appReceipt,
                method: .get,
                headers: [.authorization: "Bearer \(token)"]
            ) { response in
                #expect(response.status == .serviceUnavailable)
            }
        }
    }

    /// A ratio, because a limit in seconds would depend on the machine and on its load.
    @Test func aReceiptCostsNoMoreForEachPurchaseWhenThereAreMany() throws {
        let payload = try SignedTransactionPayload(
            purchased(applicationUsername: "9b2f0c1e-5d1b-4c53-9a53-0d9c3f4f1a2b"),
            environment: .sandbox,
            signedAt: TestChain.now
        ).encoded()
        let signer = try AppReceiptSigner(chain: chain)
        let clock = ContinuousClock()
        func duration(ofPurchases count: Int) throws -> Duration {
            try clock.measure {
                let entries = try (0..<count).map { _ in try AppReceiptEntry(payload: payload) }
                let content = AppReceiptContent(
                    account: AppReceiptsUnderTest.alice.account,
                    bundleID: AppReceiptsUnderTest.alice.bundle,
                    environment: .sandbox,
                    question: AppReceiptQuestion(),
                    entries: entries
                )
                _ = try signer.sign(content.encoded(at: TestChain.now))
            }
        }
        var few = Duration.seconds(60)
        var many = Duration.seconds(60)
        for _ in 1...5 {
            few = min(few, try duration(ofPurchases: 200))
            many = min(many, try duration(ofPurchases: 2_000))
        }
        // Ten times as many take ten times as long, and a hundred times if each costs more. Other tests
        // run beside this one, and have once made it 29 times.
        #expect(many < few * 40, "\(few) for 200 purchases, \(many) for 2,000")
    }
}
