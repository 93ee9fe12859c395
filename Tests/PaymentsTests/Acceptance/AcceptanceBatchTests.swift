import EventTypes
import Foundation
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Decisions on batches of payment requests, without a database.
@Suite struct AcceptanceBatchTests {
    func submission(_ key: String, _ request: PaymentRequest = request()) -> PaymentSubmission {
        PaymentSubmission(account: alice, idempotencyKey: key, request: request)
    }

    func batch(_ submissions: PaymentSubmission...) -> AcceptanceBatch {
        AcceptanceBatch(
            submissions.map { AcceptanceBatch.Entry($0, signedBy: OfferSigner.shared.keys) },
            at: startTime,
            in: .sandbox,
            subscriptions: .inTests
        )
    }

    func judge(_ batch: inout AcceptanceBatch) {
        batch.judge(
            products: [ProductID(unchecked: "coins"): product()],
            standings: [:],
            intents: [:],
            offers: OfferFacts(time: startTime.onMachines),
            methodRefusal: { _, _ in nil }
        )
        let ids = (0..<batch.openKeys.count).map { TransactionID(number: Int64($0) + 1) }
        batch.begin(ids, drawing: .random, tax: TaxRates(), leaseEnd: startTime.onMachines)
    }

    func answer(_ batch: inout AcceptanceBatch) throws {
        try batch.answer(with: batch.acceptances)
    }

    /// `new`, `replay`, or the refusal.
    func kinds(_ batch: AcceptanceBatch) -> [String] {
        batch.replies.map { reply in
            switch reply {
            case .accepted(_, let isReplay): isReplay ? "replay" : "new"
            case .refused(let refusal): "\(refusal)"
            }
        }
    }

    @Test func theFirstRequestOfAKeyLeadsAndItsRepetitionFollows() throws {
        var batch = batch(submission("a"), submission("a"), submission("b"))
        judge(&batch)
        #expect(batch.attempts.count == 2)
        try answer(&batch)
        #expect(kinds(batch) == ["new", "replay", "new"])
    }

    @Test func anotherRequestUnderTheKeyOfTheFirstIsRefused() throws {
        var batch = batch(submission("a"), submission("a", request(quantity: 2)))
        judge(&batch)
        try answer(&batch)
        #expect(kinds(batch) == ["new", "idempotencyKeyReused"])
    }

    @Test func aRefusedRequestDoesNotUseUpItsKey() throws {
        var batch = batch(submission("a", request("nothing")), submission("a"))
        judge(&batch)
        try answer(&batch)
        #expect(kinds(batch) == ["productUnknown", "new"])
    }

    @Test func aUsedKeyIsAnsweredAsTheFirstTime() throws {
        let repeated = submission("a")
        var batch = batch(repeated, submission("b"))
        let record = TransactionRecord(transaction: transaction(.purchased), taxBasisPoints: 0)
        let id = record.transaction.id
        try batch.replay(
            [repeated.key: (repeated.fingerprint, id)],
            records: [id: record],
            chargeAmounts: [id: usd(999)]
        )
        #expect(batch.openKeys == [submission("b").key])
        judge(&batch)
        try answer(&batch)
        #expect(kinds(batch) == ["replay", "new"])
        guard case .accepted(let body, _) = batch.replies[0] else {
            Issue.record("a repeated request gets its first answer")
            return
        }
        let first = try JSONDecoder().decode(TransactionResponse.self, from: Data(body))
        #expect(first.transaction.state == .purchasing && first.transaction.version == 1)
    }

    @Test func aUsedKeyWithoutItsTransactionIsAnErrorAndNoRefusal() {
        let repeated = submission("a")
        var batch = batch(repeated)
        let error = #expect(throws: PaymentError.self) {
            try batch.replay(
                [repeated.key: (repeated.fingerprint, TransactionID(number: 1))],
                records: [:],
                chargeAmounts: [:]
            )
        }
        #expect(error?.code == .transactionMissing)
    }

    @Test func aRequestThatNoRuleHasAnsweredIsAnErrorAndNoRefusal() {
        var batch = batch(submission("a"))
        let error = #expect(throws: PaymentError.self) { try batch.answer(with: []) }
        #expect(error?.code == .undecided)
    }
}
