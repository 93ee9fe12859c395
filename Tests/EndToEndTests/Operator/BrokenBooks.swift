import EventTypes
import Postgres
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// `counterfoil reconcile --json` reports every kind of damage in a service's database, and the
    /// audit of the other tests then fails.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct BrokenBooks {
        @Test func eachBrokenBookIsNamedWithItsTransaction() async throws {
            // Meanwhile nothing brings back a row of the queue that is deleted here: an event about
            // a payment that takes long would, because it does not know that row any more.
            let settings = [StoreService.fulfillment: ["PURCHASING_DELAY_MS": "60000"]]
            try await withStore(.with(settings: settings)) { store in
                try await store.importSampleCatalog()
                var payments: [AcceptedPayment] = []
                for damage in Damage.all {
                    payments.append(try await store.buy(damage.product, as: damage.account))
                }
                try await store.expectWhole(payments)

                var expected: Set<String> = [
                    "chargeUnknown -", "accountNotTold carol in com.example.app",
                    "deadLetter carol",
                ]
                for (damage, payment) in zip(Damage.all, payments) {
                    try await store.inflict(damage, on: payment.transactionID)
                    expected.formUnion(damage.kinds.map { "\($0) \(payment.transactionID)" })
                }
                try await store.inflictWhatIsAboutNoTransaction()

                let answer = try await store.reconcile()
                let found = answer.differences.map { difference in
                    let subject =
                        difference.kind == "chargeUnknown" ? "-" : difference.subject ?? "-"
                    return "\(difference.kind) \(difference.transactionID?.rawValue ?? subject)"
                }
                #expect(Set(found) == expected && found.count == expected.count, "\(found)")

                let report = AuditReport(of: answer, accepted: payments)
                #expect(!report.isClean)
                for (damage, payment) in zip(Damage.all, payments) {
                    let isNamed = report.violations.contains {
                        $0.subject == payment.transactionID.rawValue
                    }
                    #expect(isNamed, "\(damage.kinds)")
                }
            }
        }

        @Test func aCodeThatCountsWhatNoPaymentRedeemedIsNamed() async throws {
            try await withStore { store in
                try await store.sellOfferOfCodes()
                let made = try await store.makeCodes(2)
                #expect(try await store.reconcile().differences == [])
                _ = try await store.withDatabase(of: .payments) { connection in
                    try connection.execute(
                        """
                        UPDATE offer_codes SET redemptions = 1
                        WHERE digest = (SELECT min(digest) FROM offer_codes)
                        """
                    )
                }
                let differences = try await store.reconcile().differences
                #expect(differences.map(\.kind) == ["redemptionDiffers"])
                #expect(differences.first?.subject == "campaign \(made.campaign.id)")
            }
        }

        @Test func aShareWithoutItsFamilyIsNamed() async throws {
            try await withStore { store in
                try await store.sellShareablePro()
                _ = try await store.makeFamily("ada", "ben")
                let bought = try await store.buy(SampleCatalog.pro, as: "ada")
                let share = try await store.share(of: bought, with: "ben")
                try await store.finish([bought])
                try await store.client(account: "ben").finishUntilDone(share.transaction.id)
                try await store.agreedBooks()
                _ = try await store.withDatabase(of: .payments) { connection in
                    try connection.execute("DELETE FROM family_members WHERE account_id = 'ben'")
                }
                let differences = try await store.reconcile(within: .seconds(10)).differences
                #expect(differences.map(\.kind) == ["shareDiffers"], "\(differences)")
                #expect(differences.map(\.transactionID) == [share.transaction.id])
            }
        }

        @Test func eachBrokenSubscriptionIsNamed() async throws {
            try await withStore { store in
                try await store.addSubscription()
                _ = try await store.setClock(Routes.adminClockFreeze)
                var ids: [TransactionID] = []
                for number in Damage.ofSubscriptions.indices {
                    ids.append(
                        try await store.buy(SampleCatalog.club, as: "ada\(number)").transactionID
                    )
                }
                let start = try await store.readClock().now
                _ = try await store.advanceClock("31d", from: start)
                let whole = try await eventually("all books to agree") {
                    let answer = try await store.reconcile()
                    return answer.differences.isEmpty ? answer : nil
                }
                #expect(whole.subscriptions == ids.count)
                var expected: Set<String> = []
                for (damage, id) in zip(Damage.ofSubscriptions, ids) {
                    try await store.inflict(damage, on: id)
                    expected.formUnion(damage.kinds.map { "\($0) \(id)" })
                }
                let kinds = Set(Damage.ofSubscriptions.flatMap(\.kinds))
                let found = try await store.reconcile().differences.filter {
                    kinds.contains($0.kind)
                }.map { "\($0.kind) \($0.transactionID?.rawValue ?? "-")" }
                #expect(Set(found) == expected, "\(found)")
            }
        }

        @Test func aPaymentThatNoBookOrNobodyKnowsTurnsTheAuditRed() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let (first, second) = (try await store.buy(), try await store.buy())
                try await store.expectWhole([first, second])
                let answer = try await store.reconcile()
                let unknown = AcceptedPayment(
                    transactionID: TransactionID(number: 7),
                    account: first.account
                )
                let audits = [
                    AuditReport(of: answer, accepted: [first, second]),
                    AuditReport(of: answer, accepted: [first, second, unknown]),
                    AuditReport(of: answer, accepted: [first]),
                ]
                #expect(audits.map(\.lost) == [0, 1, 0])
                #expect(audits.map(\.doubled) == [0, 0, 1])
                // The driver claims that it has finished this purchase.
                _ = try await store.buy(as: "bob")
                let open = try await store.reconcile(within: .seconds(60))
                #expect(open.differences == [])
                let payments = open.transactions?.compactMap { books in
                    books.entry.map {
                        AcceptedPayment(transactionID: books.id, account: $0.accountID)
                    }
                }
                let report = AuditReport(of: open, accepted: payments ?? [])
                #expect(report.violations.map(\.detail) == ["paid, and not finished"])
            }
        }
    }
}

/// Damage in one book of one purchase.
private struct Damage: Sendable {
    /// The kinds of difference that `reconcile` reports.
    let kinds: [String]
    let service: StoreService
    var product = SampleCatalog.coins
    var account = "ada"
    /// The statements that cause the damage.
    ///
    /// `ID` stands for the transaction.
    let statements: [String]

    /// The damages in books of subscriptions, whose first transaction `ID` is.
    static let ofSubscriptions = [
        Damage(
            kinds: ["dueActionDiffers"],
            service: .payments,
            statements: ["UPDATE subscriptions SET due_at = due_at + '1 day' WHERE id = ID"]
        ),
        Damage(
            // Without the event nobody knows what its charge has paid for.
            kinds: ["subscriptionDiffers", "periodChargeDiffers"],
            service: .payments,
            statements: [
                """
                DELETE FROM outbox WHERE subject = 'ID' AND type = 'subscription.changed.v1'
                    AND unpacked_json(data)::json ->> 'cause' = 'purchased'
                """
            ]
        ),
        Damage(
            kinds: ["subscriptionNotTold"],
            service: .fulfillment,
            statements: ["DELETE FROM subscriptions WHERE id = ID"]
        ),
        Damage(
            kinds: ["subscriptionNotTold"],
            service: .receipts,
            statements: ["UPDATE subscriptions SET data = '{}', version = 1 WHERE id = ID"]
        ),
        Damage(
            kinds: ["subscriptionDiffers"],
            service: .payments,
            statements: ["UPDATE subscriptions SET data = '{}' WHERE id = ID"]
        ),
        Damage(
            kinds: ["periodChargeDiffers"],
            service: .payments,
            statements: [
                """
                DELETE FROM sandbox_processor.charges WHERE idempotency_key IN (
                    SELECT attempt_id FROM processor_attempts WHERE transaction_id IN (
                        SELECT id FROM transactions WHERE original_id = ID AND id <> ID))
                """
            ]
        ),
        Damage(
            kinds: ["periodRefundDiffers"],
            service: .payments,
            statements: [
                """
                UPDATE transactions SET refunds = json_build_array(json_build_object(
                    'number', 1, 'amount', json_build_object('minorUnits', 1000, 'currency', 'USD'),
                    'refundedAt', 1, 'revokes', false))
                WHERE id = ID
                """
            ]
        ),
    ]

    static let all = [
        Damage(
            kinds: ["undelivered"],
            service: .fulfillment,
            statements: [
                "UPDATE queue_transactions SET is_delivered = false WHERE transaction_id = ID"
            ]
        ),
        Damage(
            kinds: ["deliveredTwice"],
            service: .fulfillment,
            statements: [
                """
                INSERT INTO deliveries
                    (transaction_id, target, kind, url, host, state, version, delivered_at)
                VALUES (ID, '1:webhook', 'webhook', 'http://a.example', 'a.example', 'delivered',
                    2, now())
                """
            ]
        ),
        Damage(
            kinds: ["creditedTooMuch"],
            service: .fulfillment,
            statements: ["UPDATE credit_entries SET amount = amount * 2 WHERE transaction_id = ID"]
        ),
        Damage(
            kinds: ["notCredited"],
            service: .fulfillment,
            statements: ["DELETE FROM credit_entries WHERE transaction_id = ID"]
        ),
        Damage(
            kinds: ["notEntitled"],
            service: .fulfillment,
            product: SampleCatalog.pro,
            account: "bob",
            statements: ["DELETE FROM entitlements WHERE original_transaction_id = ID"]
        ),
        Damage(
            kinds: ["notQueued"],
            service: .fulfillment,
            statements: ["DELETE FROM queue_transactions WHERE transaction_id = ID"]
        ),
        Damage(
            kinds: ["queueDiffers"],
            service: .fulfillment,
            statements: ["UPDATE queue_transactions SET state = 'failed' WHERE transaction_id = ID"]
        ),
        Damage(
            kinds: ["notTold"],
            service: .fulfillment,
            statements: [
                "DELETE FROM outbox WHERE subject = 'ID' AND type = 'transaction.finished.v1'"
            ]
        ),
        Damage(
            kinds: ["receiptTwice"],
            service: .receipts,
            statements: [
                "ALTER TABLE signed_transactions DROP CONSTRAINT a_transaction_has_one_receipt",
                """
                INSERT INTO signed_transactions
                SELECT * FROM signed_transactions WHERE transaction_id = ID
                """,
            ]
        ),
        Damage(
            kinds: ["noReceipt"],
            service: .receipts,
            statements: ["DELETE FROM signed_transactions WHERE transaction_id = ID"]
        ),
        Damage(
            kinds: ["finishDiffers"],
            service: .receipts,
            statements: ["DELETE FROM transaction_finishes WHERE transaction_id = ID"]
        ),
        Damage(
            kinds: ["toldTwice"],
            service: .receipts,
            statements: [
                """
                INSERT INTO outbox (event_id, type, topic, key, subject, time, data)
                SELECT gen_random_uuid(), type, topic, key, subject, time, data
                FROM outbox WHERE subject = 'ID' AND type = 'receipt.issued.v1'
                """
            ]
        ),
        Damage(
            kinds: ["notPosted"],
            service: .payments,
            statements: [
                "DELETE FROM ledger_postings WHERE transaction_id = ID"
            ]
        ),
        Damage(
            kinds: ["unbalanced"],
            service: .payments,
            statements: [
                "ALTER TABLE ledger_postings DROP CONSTRAINT entries_balance_to_zero",
                """
                UPDATE ledger_postings SET amounts[2] = amounts[2] - 1 WHERE transaction_id = ID
                """,
            ]
        ),
        Damage(
            kinds: ["notCharged"],
            service: .payments,
            statements: [
                """
                DELETE FROM sandbox_processor.charges WHERE idempotency_key IN (
                    SELECT attempt_id FROM processor_attempts WHERE transaction_id = ID
                )
                """
            ]
        ),
        Damage(
            kinds: ["refundDiffers", "receiptNotRevoked", "creditedTooMuch"],
            service: .payments,
            statements: ["UPDATE transactions SET revoked_at = now() WHERE id = ID"]
        ),
        Damage(
            kinds: ["notTold"],
            service: .payments,
            statements: [
                "DELETE FROM outbox WHERE subject = 'ID' AND type = 'transaction.purchased.v1'"
            ]
        ),
    ]
}

extension StoreHarness {
    /// Damages a book as the owner of the tables.
    ///
    /// No other role can do this.
    fileprivate func inflict(_ damage: Damage, on id: TransactionID) async throws {
        try await withDatabase(of: damage.service) { connection in
            try connection.execute("SET counterfoil.migrating = 'on'")
            for statement in damage.statements {
                let statement = statement.replacing("ID", with: id.rawValue)
                let count = try connection.execute("\(unsafe: statement)")
                if !statement.hasPrefix("ALTER") { #expect(count > 0, "\(statement)") }
            }
        }
    }

    fileprivate func inflictWhatIsAboutNoTransaction() async throws {
        try await withDatabase(of: .payments) { connection in
            try connection.execute(
                """
                INSERT INTO sandbox_processor.charges
                    (idempotency_key, payment_method, amount, currency)
                VALUES (gen_random_uuid(), 'sandbox_success', 777, 'USD')
                """
            )
            try connection.execute(
                """
                INSERT INTO accounts (account_id, bundle_id, version)
                VALUES ('carol', 'com.example.app', 1)
                """
            )
        }
        try await withDatabase(of: .receipts) { connection in
            _ = try connection.execute(
                """
                INSERT INTO dead_letters (consumer, event_id, topic, partition, "offset", key, type,
                    subject, time, data, reason, state)
                VALUES ('receipts', gen_random_uuid(), 'payments.transactions', 0, 7, 'carol',
                    'transaction.purchased.v1', 'carol', now(), '', 'put in by a test', 'dead')
                """
            )
        }
    }
}
