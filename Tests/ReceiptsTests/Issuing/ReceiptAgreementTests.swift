import EventTypes
import Foundation
import ReceiptValidation
import Testing

@testable import Receipts

/// A device and the server accept the same receipts (spec rule 84).
@Suite(.timeLimit(.minutes(10))) struct ReceiptAgreementTests {
    private func statusOfServer(
        _ receipt: [UInt8],
        _ handler: VerifyReceiptHandler
    ) async throws -> Int {
        let body = try JSONSerialization.data(
            withJSONObject: ["receipt-data": Data(receipt).base64EncodedString()]
        )
        return try await handler.answer(body) { $0.status }
    }

    @Test func theyAgreeOnChangedReceipts() async throws {
        let chain = try TestChain().signingChain()
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1), purchased(2, type: .nonConsumable))
            let genuine = try await store.receipt()
            let handler = store.handler()
            let device = store.validator()
            #expect(try await statusOfServer(genuine, handler) == 0)
            var mutations = [genuine, [], genuine + [0], Array(genuine.dropLast())]
            // Every seventh byte is changed in three ways. Pieces are also removed, doubled and
            // moved.
            for index in stride(from: 1, to: genuine.count, by: 7) {
                for bits: UInt8 in [0x01, 0x80, 0xFF] {
                    var changed = genuine
                    changed[index] ^= bits
                    mutations.append(changed)
                }
                mutations.append(Array(genuine[..<index]))
                mutations.append(Array(genuine[index...]))
                let end = min(genuine.count, index + 20)
                mutations.append(Array(genuine[..<index] + genuine[end...]))
                mutations.append(Array(genuine[..<end] + genuine[index...]))
            }
            // Genuine receipts with other content, and those of other apps, stores and
            // environments.
            var question = AppReceiptQuestion()
            question.isExpired = true
            mutations.append(try await store.receipt(question))
            question.isRevoked = true
            question.isVolumePurchase = true
            mutations.append(try await store.receipt(question))
            let client = store.events.client
            for (otherChain, environment) in [
                (try TestChain().signingChain(), StoreEnvironment.sandbox),
                (chain, .production),
            ] {
                let other = try AppReceiptsUnderTest(
                    client,
                    chain: otherChain,
                    environment: environment
                )
                mutations.append(try await other.receipt())
            }
            #expect(mutations.count > 100)
            var believed = 0
            for mutation in mutations {
                let isBelieved = (try? device.appReceipt(mutation)) != nil
                let status = try await statusOfServer(mutation, handler)
                #expect(isBelieved == (status == 0), "status \(status)")
                #expect(isBelieved || (21002...21008).contains(status), "status \(status)")
                believed += isBelieved ? 1 : 0
            }
            #expect(believed == 3)
        }
    }

    @Test func aReceiptThatTheServerSignedIsReadByTheDeviceAsItWasWritten() async throws {
        let chain = try TestChain().signingChain()
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            let transactions = (1...50).map { number in
                purchased(
                    Int64(number),
                    type: number.isMultiple(of: 2) ? .consumable : .nonConsumable,
                    quantity: number
                )
            }
            try await store.events.apply(
                try transactions.map { try .of(.transactionPurchased, $0) }
            )
            let entries = try await store.reader.entries(of: AppReceiptsUnderTest.alice)
            let purchases = try await store.read().purchases
            #expect(purchases.map(\.transactionID) == entries.map(\.transactionId.rawValue))
            #expect(purchases.map(\.productID) == entries.map(\.productId.rawValue))
            #expect(purchases.map(\.quantity) == entries.map(\.quantity))
            #expect(purchases.map(\.purchasedAt) == entries.map(\.purchaseDate.date))
            // Every transaction also has a receipt of its own (spec rule 88).
            for transaction in transactions {
                let jws = try #require(try await store.events.receipt(of: transaction))
                let signed = try store.validator().verify(jws, as: JWSTransaction.self)
                #expect(signed.transactionId == transaction.id.rawValue)
                #expect(signed.quantity == transaction.quantity)
            }
        }
    }
}
