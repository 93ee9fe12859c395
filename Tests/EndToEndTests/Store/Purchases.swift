import EventTypes
import Foundation
import Postgres
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// Purchases from the payment to the finish, with every payment method, and later events.
    @Suite
    struct Purchases {
        @Test func everyPaymentMethodEndsAsItIsNamed() async throws {
            typealias End = (SandboxPaymentMethod, TransactionState, FailureReason?)
            try await withStore { store in
                try await store.importSampleCatalog()
                let isSandbox = store.stripe == nil
                // A request that Stripe lost is sent again, and charged.
                let refused: End = (.unknownNotCharged, .failed, .processorRefused)
                let charged: End = (.unknownNotCharged, .purchased, nil)
                let all: [End] = [
                    (.success, .purchased, nil), (.slow, .purchased, nil),
                    (.renewalDeclined, .purchased, nil), (.renewalRecovers, .purchased, nil),
                    (.flaky, .purchased, nil), (.unknownCharged, .purchased, nil),
                    isSandbox ? refused : charged,
                    (.decline, .failed, .paymentDeclined),
                    (.insufficientFunds, .failed, .insufficientFunds),
                    (.cancelled, .failed, .paymentCancelled),
                    (.interrupted, .failed, .interrupted),
                    (.processing, .purchased, nil), (.throttled, .purchased, nil),
                    (.storedError, .purchased, nil), (.refundPending, .purchased, nil),
                    (.refundFailed, .purchased, nil),
                    (.wrongAmount, .failed, .processorRefused),
                    (.needsAction, .failed, .interrupted),
                    (.needsApproval, .deferred, nil),
                ]
                let ends = all.filter { isSandbox || StoreStripe.card(for: $0.0) != nil }
                var payments: [AcceptedPayment] = []
                for (method, _, _) in ends {
                    payments.append(try await store.buy(by: method, as: method.rawValue))
                }
                for (payment, (method, state, reason)) in zip(payments, ends) {
                    let client = try store.client(account: method.rawValue)
                    let transaction = try await client.wait(
                        for: payment.transactionID,
                        toBe: state
                    )
                    #expect(transaction.failureReason == reason, "\(method)")
                }
                if isSandbox {
                    let deferred = try #require(payments.last)
                    _ = try await store.administrator.decide(.decline, on: deferred.transactionID)
                        .value
                }
                try await store.finish(payments)
                let report = try await store.quietAudit(payments)
                #expect(report.violations.isEmpty, "\(report.verdict)")
                // The sandbox also charges a wrong amount.
                #expect(report.count("charges") == (isSandbox ? 12 : 10))
                #expect(report.count("purchased") == (isSandbox ? 11 : 10))
                #expect(report.count("failed") == (isSandbox ? 8 : 3))
            }
        }

        @Test func aQuickChargeIsOneChangeOfItsQueue() async throws {
            // Longer than the default, because a charge takes long on a busy machine.
            let settings = [StoreService.fulfillment: ["PURCHASING_DELAY_MS": "60000"]]
            try await withStore(.with(settings: settings)) { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                try await store.expectWhole([payment])
                // Its result and its finish are all that the queue has seen.
                let queue = try await store.client(account: "ada").unfinished().value
                #expect(queue.revision == 2)
            }
        }

        @Test(.onlySandbox("It stops a statement of the sandbox's books."))
        func aSlowChargeIsSeenByADeviceThatStartsMeanwhile() async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.importSampleCatalog()
                let (payment, hold) = try await store.buyHeldBeforeCharge()
                try await hold.reached()
                let device = try store.client(account: "ada")
                try await eventually("the queue to show the payment") {
                    let shown = try await device.unfinished().value.transactions
                    return shown.map(\.transaction.state) == [.purchasing] ? true : nil
                }
                hold.release()
                try await store.expectWhole([payment])
            }
        }

        @Test(.onlySandbox("No card waits for approval."))
        func deferredOneNobodyDecidesFails() async throws {
            let settings = [StoreService.payments: ["APPROVAL_EXPIRY_MS": "500"]]
            try await withStore(.with(settings: settings)) { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy(by: .needsApproval)
                let transaction = try await store.client(account: "ada").wait(
                    for: payment.transactionID,
                    toBe: .failed
                )
                #expect(transaction.failureReason == .approvalExpired)
            }
        }

        @Test func refundGivesEverythingBackOnce() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let coins = try await store.buy()
                let pro = try await store.buy(SampleCatalog.pro)
                try await store.expectWhole([coins, pro])
                let client = try store.client(account: "ada")
                for _ in 0..<2 {
                    for payment in [coins, pro] {
                        _ = try await store.administrator.refund(payment.transactionID).value
                    }
                }
                try await eventually("the account to own nothing") {
                    let credits = try await client.credits().value.balances
                    let entitlements = try await client.entitlements().value.entitlements
                    return (credits["coins"] ?? 0) == 0
                        && entitlements.allSatisfy { $0.revokedAt != nil } ? true : nil
                }
                let report = try await store.quietAudit([coins, pro])
                #expect(report.violations.isEmpty, "\(report.verdict)")
                #expect(report.count("charges returned") == 2)
                #expect(report.count("postings") == 4)
            }
        }

        @Test func secondPurchaseOfANonConsumableIsNotCharged() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let first = try await store.buy(SampleCatalog.pro)
                try await store.expectWhole([first])
                let second = try await store.buy(SampleCatalog.pro)
                try await store.finish([second])
                let report = try await store.quietAudit([first, second])
                #expect(report.violations.isEmpty, "\(report.verdict)")
                #expect(report.count("purchased") == 2)
                #expect(report.count("charges") == 1)
                #expect(report.count("entitlements") == 1)
            }
        }

        @Test func restoreMakesOneTransactionForEachPurchaseAndOwnsNothingTwice() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let pro = try await store.buy(SampleCatalog.pro)
                let coins = try await store.buy()
                try await store.expectWhole([pro, coins])
                let client = try store.client(account: "ada")
                let restored = try await eventually("the finish to be known to payments") {
                    let answer = try await client.restore().value.transactions
                    return answer.isEmpty ? nil : answer
                }
                #expect(restored.map(\.originalID) == [pro.transactionID])
                #expect(restored.map(\.state) == [.restored])
                let payments = restored.map {
                    AcceptedPayment(transactionID: $0.id, account: client.account)
                }
                try await store.finish(payments)
                let report = try await store.quietAudit([pro, coins] + payments)
                #expect(report.violations.isEmpty, "\(report.verdict)")
                #expect(report.count("charges") == 2)
                #expect(report.count("entitlements") == 1)
            }
        }

        @Test func streamBeginsWithTheUnfinishedAndResumesWhereItEnded() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let client = try store.client(account: "ada")
                let first = try await store.buy()
                let lastEventID = try await delivered(first, on: client.queue())
                await store.process(.fulfillment).kill()
                let second = try await store.buy()
                try await store.process(.fulfillment).start()
                try await store.process(.fulfillment).waitUntilReady()
                // A resumed stream repeats no seen events and sends the missed ones.
                var seen: Set<TransactionID> = []
                for try await event in client.queue(after: lastEventID) {
                    guard let change = event.change else { continue }
                    seen.insert(change.transaction.id)
                    if change.isDelivered { break }
                }
                #expect(seen == [second.transactionID])
                // A new connection sends everything unfinished.
                seen = []
                for try await event in client.queue() {
                    if let change = event.change { seen.insert(change.transaction.id) }
                    if seen.count == 2 { break }
                }
                try await store.expectWhole([first, second])
            }
        }

        private func delivered(
            _ payment: AcceptedPayment,
            on stream: QueueStream
        ) async throws -> String? {
            for try await event in stream {
                guard let change = event.change,
                    change.transaction.id == payment.transactionID, change.isDelivered
                else { continue }
                return event.id
            }
            throw HarnessError("The stream ended before \(payment.transactionID) was delivered.")
        }

        @Test func receiptVerifiesAndIsTheAccountsAlone() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                try await store.finish([payment])
                let receipt = try await store.client(account: "ada").receipt(
                    payment.transactionID
                ).value
                let root = try Data(
                    contentsOf: URL(fileURLWithPath: store.keys.rootCertificate)
                )
                let check = try SignedTransactionCheck(
                    receipt.signedTransaction,
                    rootCertificate: Array(root)
                )
                #expect(check.payload.contains("\"transactionId\":\"\(payment.transactionID)\""))
                #expect(check.payload.contains("\"price\":990"))
                #expect(check.chain.count == 3)
            }
        }
    }
}
