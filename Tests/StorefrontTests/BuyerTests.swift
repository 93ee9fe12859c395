import Testing

@testable import storefront

@Suite struct BuyerTests {
    @Test func aPlainNameIsTheAccount() throws {
        #expect(try Buyer(name: " ada ").accountID == "ada")
    }

    @Test func oneNameInTwoFormsIsOneBuyer() throws {
        let composed = try Buyer(name: "Zo\u{EB}")
        let decomposed = try Buyer(name: "Zoe\u{308}")
        #expect(composed == decomposed)
        #expect(composed.accountID.hasPrefix("buyer-"))
        #expect(composed.accountID.utf8.count == 38)
    }

    @Test(arguments: [
        "名前", "Ольга", "مريم", "می\u{200C}خواهم", "👩\u{200D}👧", "<script>", "a b", "O'Neil",
    ])
    func everyScriptHasAnAccountOfVisibleASCII(_ name: String) throws {
        let buyer = try Buyer(name: name)
        #expect(buyer.accountID.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        #expect(buyer.name == name)
    }

    @Test(arguments: [
        "", "  ", "a\u{0}", "a\u{202E}b", "a\u{FEFF}", "a\u{2028}b", "\u{E000}",
        String(repeating: "a", count: 65), "a" + String(repeating: "\u{301}", count: 600),
    ])
    func aNameThatNobodyCanReadIsRefused(_ name: String) {
        #expect(throws: StorefrontProblem.self) { try Buyer(name: name) }
    }
}
