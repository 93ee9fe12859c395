import Foundation
import Testing

@testable import storefront

@Suite struct OwnedAnswerTests {
    private static func owned(_ numbers: ClosedRange<Int>) -> [OwnedProduct] {
        numbers.map { number in
            OwnedProduct(
                productID: "com.example.season",
                originalTransactionID: "\(number)",
                grantedAt: Int64(number)
            )
        }
    }

    private func verdict(on id: String) throws -> ReceiptVerdict {
        let store = try TestStore()
        return ReceiptVerdict(try store.receipt(of: id), of: id, by: store.validator)
    }

    @Test func theNewestComeFirstAndTheirReceiptsAreTried() {
        let answer = OwnedAnswer(of: Self.owned(1...60), isCut: false, balances: [:])
        #expect(answer.products.map(\.originalTransactionID) == (1...60).reversed().map { "\($0)" })
        #expect(answer.tried == Set((11...60).map { "\($0)" }))
        #expect(answer.products.map(\.isTried) == (1...60).map { Optional($0 <= 50) })
    }

    /// An older receipt was not tried, so the page must not say that it could not be fetched.
    @Test func whatWasNotTriedDiffersFromWhatCouldNotBeFetched() throws {
        var answer = OwnedAnswer(of: Self.owned(1...51), isCut: true, balances: ["coins": 5])
        answer.take(["51": try verdict(on: "51")])
        let (newest, second, oldest) =
            (answer.products[0], answer.products[1], answer.products[50])
        #expect(newest.isTried == true && newest.isVerified == true)
        #expect(second.isTried == true && second.isVerified == nil)
        #expect(oldest.isTried == false && oldest.isVerified == nil)
        #expect(answer.isCut && answer.balances == ["coins": 5])
    }

    /// The store's page has members that this server does not read, and none of its own verdicts.
    @Test func aProductIsReadAsTheStoreSaysIt() throws {
        let json = #"{"grantedAt": 1, "originalTransactionID": "1", "productID": "p", "new": 2}"#
        let product = try JSONDecoder().decode(OwnedProduct.self, from: Data(json.utf8))
        #expect(product.isTried == nil && product.isVerified == nil)
    }
}
