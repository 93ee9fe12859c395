import EventTypes
import Postgres
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// `counterfoil reconcile --json` reports every kind of damage in a service's database, and the
    /// audit of the other tests then fails.
    @Suite
    struct BrokenBooks {
        @Test(.onlySandbox("It breaks the sandbox's books."))
        func eachBrokenBookIsNamedWithItsTransaction() async throws {
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

        /// No constraint of the database keeps the code of a redemption.
        @Test func aRedemptionOfACodeThatIsNotThereIsNamed() async throws {
            try await withStore { store in
                try await store.sellOfferOfCodes()
                let code = try #require(try await store.makeCodes(1).codes?.first)
                let page = try await store.openCodePage()
                #expect(try await page.submit(page.confirmation(of: code)).status == 200)
                try await store.agreedBooks()
                let redeemed = try await store.firstTransaction()
                _ = try await store.withDatabase(of: .payments) { connection in
                    try connection.execute("DELETE FROM offer_codes")
                }
                let differences = try await store.reconcile().differences
                #expect(differences.map(\.kind) == ["redemptionDiffers"], "\(differences)")
                #expect(differences.first?.transactionID == TransactionID(number: redeemed))
            }
        }

        @Test func anApprovedRequestWithoutItsRefundIsNamed() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let bought = try await store.buy(SampleCatalog.pro, as: "ada")
                try await store.finish([bought])
                let client = try store.client(account: "ada")
                _ = try await client.askForRefund(of: bought.transactionID).value
                _ = try await store.administrator.decide(.approve, on: 1, of: bought.transactionID)
                    .value
                try await store.agreedBooks()
                _ = try await store.withDatabase(of: .payments) { connection in
                    try connection.execute(
                        """
                        UPDATE refund_requests
                        SET data = jsonb_set(data::jsonb, '{refundNumber}', '7')::json
                        """
                    )
                }
                let differences = try await store.reconcile().differences
                #expect(differences.map(\.kind) == ["refundDiffers"], "\(differences)")
                #expect(differences.map(\.transactionID) == [bought.transactionID])
                #expect(differences.first?.detail.contains("refund 7 is unknown") == true)
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
                let differences = try await store.differences { found in
                    found.map(\.kind) == ["shareDiffers"]
                }
                #expect(differences.map(\.transactionID) == [share.transaction.id])
            }
        }

        @Test func aPeriodThatAMemberShouldHaveIsNamed() async throws {
            try await withStore { store in
                try await store.sellShareableClub()
                _ = try await store.makeFamily("ada", "ben")
                let bought = try await store.buy(SampleCatalog.club, as: "ada")
                let share = try await store.share(of: bought, with: "ben")
                try await store.finish([bought])
                try await store.client(account: "ben").finishUntilDone(share.transaction.id)
                try await store.agreedBooks()
                _ = try await store.withDatabase(of: .payments) { connection in
                    try connection.execute(
                        """
                        INSERT INTO family_members (account_id, bundle_id, family_id, is_sharing)
                        SELECT 'cleo', bundle_id, id, true FROM families
                        """
                    )
                }
                let differences = try await store.differences { found in
                    found.map(\.kind) == ["shareDiffers"]
                }
                #expect(differences.map(\.transactionID) == [bought.transactionID])
                #expect(differences.first?.detail == "cleo has no share of it")
            }
        }

        @Test func aShareInAGracePeriodThatTheBuyerDoesNotHaveIsNamed() async throws {
            try await withStore { store in
                try await store.sellShareableClub()
                _ = try await store.makeFamily("ada", "ben")
                let bought = try await store.buy(SampleCatalog.club, as: "ada")
                let share = try await store.share(of: bought, with: "ben")
                try await store.finish([bought])
                try await store.client(account: "ben").finishUntilDone(share.transaction.id)
                try await store.agreedBooks()
                _ = try await store.withDatabase(of: .payments) { connection in
                    try connection.execute(
                        """
                        UPDATE transactions SET subscription = jsonb_set(
                            subscription::jsonb, '{shared,gracePeriodEnd}',
                            to_jsonb((subscription->>'end')::bigint + 1))::json
                        WHERE reason = 'familyShared'
                        """
                    )
                }
                // While the period runs, the right share is missing as well.
                let expected: Set = [
                    "it has a grace period that the purchase does not have",
                    "ben has no share of it",
                ]
                _ = try await store.differences { found in
                    Set(found.filter { $0.kind == "shareDiffers" }.map(\.detail)) == expected
                }
            }
        }

        @Test(.onlySandbox("It breaks the sandbox's books."))
        func eachBrokenSubscriptionIsNamed() async throws {
            try await withStore { store in
                try await store.addSubscription()
                // Nothing listens there. What has to be told is stored all the same.
                let nobody = "http://127.0.0.1:9/notifications"
                _ = try await store.administrator.setNotificationEndpoint(to: nobody).value
                _ = try await store.setClock(Routes.adminClockFreeze)
                var payments: [AcceptedPayment] = []
                for number in Damage.ofSubscriptions.indices {
                    payments.append(try await store.buy(SampleCatalog.club, as: "ada\(number)"))
                }
                // A payment that is charged only after the advance would not renew.
                try await store.finish(payments)
                let ids = payments.map(\.transactionID)
                let start = try await store.readClock().now
                _ = try await store.advanceClock("31d", from: start)
                let whole = try await eventually(every: .milliseconds(200), "all books to agree") {
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

extension StoreHarness {
    /// Waits until the books differ as a test expects, and returns the differences.
    fileprivate func differences(
        that areExpected: ([Reconciliation.Difference]) -> Bool
    ) async throws -> [Reconciliation.Difference] {
        try await eventually(every: .milliseconds(200), "the expected differences") {
            let found = try await reconcile().differences
            guard areExpected(found) else { throw HarnessError("\(found)") }
            return found
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
