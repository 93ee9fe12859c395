import ClockAndIDs
import EventTypes
import Foundation
import Testing

@Suite struct IdentifierTests {
    @Test(arguments: ["a", "com.example.coins_100", "A-1", String(repeating: "x", count: 255)])
    func productIDsAreNames(text: String) throws {
        #expect(ProductID(rawValue: text)?.rawValue == text)
    }

    @Test(arguments: ["", "a b", "a/b", "é", "a,b", String(repeating: "x", count: 256), "a\n"])
    func whatIsNoProductIDIsRefused(text: String) {
        #expect(ProductID(rawValue: text) == nil)
    }

    @Test func accountIDsAreVisibleASCII() {
        #expect(AccountID(rawValue: "ada@example.com/7") != nil)
        for text in ["", "a b", "ä", "a\u{7F}", String(repeating: "x", count: 129)] {
            #expect(AccountID(rawValue: text) == nil)
        }
    }

    @Test func idempotencyKeysAreVisibleASCII() {
        for text in ["a", "a/b~!", String(repeating: "x", count: 255)] {
            #expect(IdempotencyKey(rawValue: text)?.rawValue == text)
        }
        for text in ["", "a b", "ä", "a\n", String(repeating: "x", count: 256)] {
            #expect(IdempotencyKey(rawValue: text) == nil)
        }
    }

    @Test func bundleIDsHaveNoUnderscore() {
        #expect(BundleID(rawValue: "com.example.app-2") != nil)
        #expect(BundleID(rawValue: "com.example_app") == nil)
        #expect(BundleID(rawValue: "../keys") == nil)
    }

    @Test func transactionIDsAreNumbersAndSortByNumber() {
        #expect(TransactionID(rawValue: "1000000000000001")?.number == 1_000_000_000_000_001)
        for text in ["", "-1", "1.0", "1e3", "١٢", String(repeating: "9", count: 19)] {
            #expect(TransactionID(rawValue: text) == nil)
        }
        #expect(TransactionID(number: 9) < TransactionID(number: 10))
    }

    @Test func intentsAreUUIDsInOneSpelling() {
        let id = PurchaseIntentID(time: StoreTime(millisecondsSinceEpoch: 1_795_237_175_000))
        #expect(PurchaseIntentID(rawValue: id.rawValue) == id)
        for text in ["", "7", id.rawValue.uppercased(), id.rawValue + "0"] {
            #expect(PurchaseIntentID(rawValue: text) == nil)
        }
    }

    @Test func storefrontsAreTheCodesOfISO3166() {
        for code in ["USA", "FRA", "JPN", "KWT", "XKS"] {
            #expect(Storefront(rawValue: code) != nil)
        }
        for code in ["", "US", "usa", "ZZZ", "EUR"] { #expect(Storefront(rawValue: code) == nil) }
    }

    @Test func languagesAreTags() {
        for tag in ["en", "en-US", "zh-Hans-CN"] { #expect(LanguageTag(rawValue: tag) != nil) }
        for tag in ["", "e", "en_US", "en US"] { #expect(LanguageTag(rawValue: tag) == nil) }
    }

    @Test func anIllFormedIdentifierInJSONTellsItsForm() {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ProductID].self, from: Data(#"["a b"]"#.utf8))
        }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("expected corrupted data, got \(String(describing: error))")
            return
        }
        #expect(context.debugDescription == "expected \(ProductID.form)")
    }

    @Test func identifiersAreKeysOfJSONObjects() throws {
        let json = Data(#"{"USA":1,"FRA":2}"#.utf8)
        let counts = try JSONDecoder().decode([Storefront: Int].self, from: json)
        #expect(counts == [Storefront(unchecked: "USA"): 1, Storefront(unchecked: "FRA"): 2])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([Storefront: Int].self, from: Data(#"{"usa":1}"#.utf8))
        }
    }

    @Test func everyStorefrontHasANumberOfItsOwn() throws {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ").map(String.init)
        var codes: [Storefront] = []
        for first in letters {
            for second in letters {
                codes += letters.compactMap { Storefront(rawValue: first + second + $0) }
            }
        }
        #expect(codes.count > 200)
        #expect(Set(codes.map(\.number)).count == codes.count)
        #expect(Storefront(unchecked: "USA").number == "143441")
        #expect(Storefront(unchecked: "JAM").number == "143511")
        #expect(Storefront(unchecked: "ABW").number == "200048")
    }

    @Test(arguments: [
        (FailureReason.paymentCancelled, 2), (.paymentDeclined, 3), (.insufficientFunds, 3),
        (.buyerMustAct, 3),
        (.approvalDeclined, 4), (.approvalExpired, 4), (.processorRefused, 0),
        (.storefrontChanged, 5), (.interrupted, 0),
    ])
    func failuresHaveTheirStoreKitCode(reason: FailureReason, code: Int) {
        #expect(reason.storeKitErrorCode == code)
        #expect(FailureReason(rawValue: reason.rawValue) == reason)
    }

    @Test func everyTopicHasOneProducerAndANameOfItsOwn() {
        #expect(Set(Topics.all.map(\.name)).count == Topics.all.count)
        for topic in Topics.all {
            // The clock belongs to the whole store; payments keeps it.
            let owner = topic == Topics.storeClock ? "store" : topic.producer.rawValue
            #expect(topic.name.hasPrefix(owner + "."))
            #expect(!topic.consumers.contains(topic.producer))
            // Nobody applies the events of a topic that only streams follow.
            let letters = topic.consumers.isEmpty ? nil : topic.name + ".dead-letters"
            #expect(topic.deadLetters == letters)
        }
        #expect(Topics.catalogProducts.key == .product && Topics.catalogProducts.isCompacted)
    }
}
