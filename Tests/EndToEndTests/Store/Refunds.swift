import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// Refunds of parts and their reversals, as an administrator asks for them over HTTP.
    @Suite
    struct Refunds {
        /// A body, with or without a key, and the answer to it.
        private static let bad: [(body: String, status: Int, code: String)] = [
            (#"{"amount":{"minorUnits":100,"currency":"USD"}}"#, 409, "refund_too_large"),
            (#"{"amount":{"minorUnits":0,"currency":"USD"}}"#, 400, "refund_not_positive"),
            (#"{"amount":{"minorUnits":-5,"currency":"USD"}}"#, 400, "refund_not_positive"),
            (#"{"amount":{"minorUnits":5,"currency":"EUR"}}"#, 400, "wrong_currency"),
            (#"{"amount":5}"#, 400, "malformed_json"),
            (#"{"revokes":"yes"}"#, 400, "malformed_json"), ("[", 400, "malformed_json"),
        ]

        @Test func everyBadRefundIsRefusedAndChangesNothing() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                try await store.expectWhole([payment])
                let (admin, id) = (try store.administrator, payment.transactionID)
                let url = store.urls.payments + Routes.refund(id)
                for (body, status, code) in Self.bad {
                    let answer = try await admin.raw(.POST, url, body: Array(body.utf8))
                    let text = answer.text
                    #expect(answer.status == status, "\(body): \(text)")
                    #expect(text.contains(code), "\(body): \(text)")
                }
                for number in ["1", "0", "-1", "x"] {
                    let reversal = url + "s/\(number)/reversal"
                    let answer = try await admin.raw(.POST, reversal)
                    #expect(answer.status == 404, "\(number): \(answer.text)")
                    #expect(answer.text.contains("refund_unknown"), "\(answer.text)")
                }
                let failed = try await store.buy(by: .decline)
                _ = try await store.client(account: "ada").wait(
                    for: failed.transactionID,
                    toBe: .failed
                )
                let refused = try await admin.refund(failed.transactionID)
                #expect(refused.problem?.code == "not_purchased")
                let after = try await admin.raw(
                    .GET,
                    store.urls.payments + "\(Routes.adminTransactions)/\(id)"
                )
                #expect(!after.text.contains("refunds"), "\(after.text)")
            }
        }

        @Test func oneKeyGivesBackOnce() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                try await store.expectWhole([payment])
                let (admin, id) = (try store.administrator, payment.transactionID)
                let part = RefundRequest(amount: SampleCatalog.usd(40))
                var answers: [TransactionResponse] = []
                for _ in 0..<3 {
                    answers.append(try await admin.refund(id, part, key: "one").value)
                }
                #expect(answers.allSatisfy { $0.transaction.refundedAmount.minorUnits == 40 })
                #expect(answers.allSatisfy { $0.transaction.revokedAt == nil })
                let other = RefundRequest(amount: SampleCatalog.usd(41))
                let refused = try await admin.refund(id, other, key: "one")
                #expect(refused.problem?.code == "idempotency_key_reused")
                // Stripe takes no refund back.
                if store.stripe == nil {
                    let reversed = try await admin.reverseRefund(1, of: id).value
                    #expect(reversed.transaction.refundedAmount.minorUnits == 0)
                }
                let all = RefundRequest(amount: SampleCatalog.usd(100))
                let tooMuch = try await admin.refund(id, all)
                #expect(tooMuch.problem?.code == "refund_too_large")
            }
        }

        @Test(.onlySandbox("Stripe takes no refund back."))
        func theOperatorRefundsAPartAndReversesIt() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                try await store.expectWhole([payment])
                let id = payment.transactionID.rawValue
                let part = try await store.counterfoil(
                    ["refund", id, "--amount", "0.4", "--reason", "damaged: 箱"]
                )
                #expect(part.exit == .code(0) && part.output.contains("0.40 USD refunded"))
                let wrong = try await store.counterfoil("refund", id, "--amount", "0.405")
                #expect(wrong.exit == .code(64), "\(wrong.output)")
                let back = try await store.counterfoil("refund", id, "--reverse", "1")
                #expect(back.exit == .code(0), "\(back.output)")
                let why = try await store.counterfoil("why", id)
                let name = StoreKeys.administrator
                let refunded = "refunded 0.40 USD by \(name): damaged: 箱 (refund 1, which leaves"
                #expect(why.output.contains(refunded), "\(why.output)")
                #expect(why.output.contains("refund 1 reversed by \(name)"))
            }
        }
    }
}
