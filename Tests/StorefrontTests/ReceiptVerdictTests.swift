import Testing

@testable import storefront

@Suite struct ReceiptVerdictTests {
    private let store: TestStore

    init() throws { store = try TestStore() }

    private func verdict(on receipt: String, of transactionID: String = "42") -> ReceiptVerdict {
        ReceiptVerdict(receipt, of: transactionID, orderId: "M42", by: store.validator)
    }

    @Test func theReceiptOfThePurchaseIsVerified() throws {
        let receipt = try store.receipt(of: "42")
        let verdict = verdict(on: receipt)
        #expect(verdict.isVerified)
        #expect(verdict.refusal == nil)
        #expect(verdict.signedTransaction == receipt)
        #expect(verdict.orderId == "M42")
    }

    @Test func theReceiptOfAnotherPurchaseIsRefused() throws {
        let verdict = verdict(on: try store.receipt(of: "43"))
        #expect(!verdict.isVerified)
        #expect(verdict.refusal == "it is the receipt of another transaction")
    }

    @Test func aReceiptWithAChangedLetterIsRefused() throws {
        let receipt = try store.receipt(of: "42")
        var parts = receipt.split(separator: ".").map { Array($0) }
        for part in parts.indices {
            let middle = parts[part].count / 2
            let letter = parts[part][middle]
            parts[part][middle] = letter == "A" ? "B" : "A"
            let changed = parts.map { String($0) }.joined(separator: ".")
            #expect(changed != receipt)
            let verdict = verdict(on: changed)
            #expect(!verdict.isVerified)
            #expect(verdict.refusal != nil)
            parts[part][middle] = letter
        }
    }

    @Test func theReceiptOfAnotherAppIsRefused() throws {
        let verdict = verdict(on: try store.receipt(of: "42", for: "com.example.other"))
        #expect(!verdict.isVerified)
        #expect(verdict.refusal?.hasPrefix("bundle_id") == true)
    }

    @Test func theReceiptOfAnotherStoreIsRefused() throws {
        let verdict = verdict(on: try TestStore().receipt(of: "42"))
        #expect(!verdict.isVerified)
        #expect(verdict.refusal?.hasPrefix("root") == true)
    }

    @Test(arguments: ["", "a.b.c", "no receipt"])
    func whatIsNoReceiptIsRefused(_ text: String) {
        #expect(!verdict(on: text).isVerified)
    }
}
