import EventTypes
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// The crash points of a redemption of a code, in the table of Messaging's documentation.
    @Suite
    struct CodeCrashPoints {
        private static let statement = "INSERT INTO code_redemptions"

        @Test func beforeARedemptionIsCommitted() async throws {
            try await redeem(
                killingAt: .beforeCommit(ofTransactionWith: Self.statement),
                redemptionsThen: 0
            )
        }

        @Test func afterARedemptionBeforeItsAnswer() async throws {
            try await redeem(
                killingAt: .afterCommit(ofTransactionWith: Self.statement),
                redemptionsThen: 1
            )
        }

        /// Kills `payments` while a form is confirmed, sends the form again, and expects one redemption.
        ///
        /// The books have some redemptions, or none, before the form is sent again.
        private func redeem(
            killingAt point: PostgresProxy.Point,
            redemptionsThen count: Int
        ) async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.sellOfferOfCodes()
                let made = try await store.makeCodes(1)
                let code = try #require(made.codes?.first)
                let page = try await store.openCodePage()
                let form = try await page.confirmation(of: code)
                let hold = try store.hold(.payments, point)
                async let asked = page.submit(form)
                try await store.crash(.payments, at: hold)
                _ = try? await asked  // Its answer is lost.
                #expect(try await store.redemptions(of: made.campaign) == count)

                let done = try await page.submit(form)
                #expect(done.status == 200, "\(done.text)")
                #expect(done.text.contains("Your code was redeemed"), "\(done.text)")
                #expect(try await store.redemptions(of: made.campaign) == 1)
                let other = try await store.openCodePage(of: "bob")
                let fields = ["ticket": try await other.ticket(), "code": code]
                let refused = try await other.submit(fields)
                #expect(refused.status == 422 && refused.text.contains("redeemed already"))
                try await store.expectOnePeriod()
            }
        }
    }
}

extension StoreHarness {
    /// Expects one period in the account's queue, charged, posted, signed and delivered once.
    fileprivate func expectOnePeriod() async throws {
        let client = try client(account: "ada")
        let queued = try await eventually("the purchase to be delivered") {
            let queued = try await client.unfinished().value.transactions
            return queued.first?.isDelivered == true ? queued : nil
        }
        for entry in queued { try await client.finishUntilDone(entry.transaction.id) }
        let books = try await agreedBooks()
        #expect(books.map(\.id) == queued.map(\.transaction.id) && books.count == 1)
        for book in books {
            #expect(book.entry?.state == .purchased)
            #expect(book.charges.count == 1 && book.receipts.count == 1)
            #expect(book.postings.map(\.kind) == ["purchase"])
        }
    }
}
