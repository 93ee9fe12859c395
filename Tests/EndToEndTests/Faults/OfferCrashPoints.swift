import EventTypes
import Foundation
import Postgres
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// The crash points of a payment with an offer, in the table of Messaging's documentation.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct OfferCrashPoints {
        /// An offer that a payment uses up, with the statement that notes it.
        enum Kind: String, CaseIterable, Sendable {
            /// The introductory offer, which an account has once.
            case introductory = "SET introductory_transaction"
            /// A promotional offer, whose signature is good for one payment.
            case promotional = "INSERT INTO offer_nonces"
        }

        private static let offer = OfferID(unchecked: "stay")

        @Test(arguments: Kind.allCases)
        func beforeAnOfferIsUsedUp(_ kind: Kind) async throws {
            try await buy(
                kind,
                killingAt: .beforeCommit(ofTransactionWith: kind.rawValue),
                paymentsThen: 0
            )
        }

        @Test(arguments: Kind.allCases)
        func afterAnOfferIsUsedUpBeforeTheAnswer(_ kind: Kind) async throws {
            try await buy(
                kind,
                killingAt: .afterCommit(ofTransactionWith: kind.rawValue),
                paymentsThen: 1
            )
        }

        /// Kills `payments` while it accepts a payment with an offer, asks again under the same key, and
        /// expects that the offer was given once.
        ///
        /// The books have the payment, or not, before it is asked for again.
        private func buy(
            _ kind: Kind,
            killingAt point: PostgresProxy.Point,
            paymentsThen count: Int
        ) async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await sell(kind, in: store)
                let client = try store.client(account: "ada")
                let (payment, earlier) = try await prepare(kind, for: client, of: store)
                let (key, hold) = (UUID().uuidString, try store.hold(.payments, point))
                async let asked = client.add(payment, key: key)
                try await store.crash(.payments, at: hold)
                _ = try? await asked  // Its answer is lost.
                #expect(try await store.paymentCount() == earlier + count)

                let bought = try await client.addUntilAnswered(payment, key: key).value.transaction
                try await client.wait(for: bought.id, toBe: .purchased)
                #expect(try await store.paymentCount() == earlier + 1)
                if kind == .promotional {
                    let again = try await client.addUntilAnswered(payment)
                    #expect(again.problem?.code == "offer_nonce_used", "\(again.response.text)")
                }
                let subscriptions = try await client.subscriptions().value.subscriptions
                let subscription = try #require(subscriptions.first)
                #expect(subscription.period.number == 1 && subscriptions.count == 1)
                switch kind {
                case .introductory:
                    #expect(subscription.period.offer?.type == .introductory)
                    #expect(bought.price.minorUnits == 99)
                case .promotional:
                    #expect(subscription.period.offer == nil)
                    #expect(subscription.pendingOffer?.id == Self.offer)
                }
                try await store.expectOneCharge(of: client)
            }
        }

        /// Sells the club with an offer of three months for 0.99 USD each.
        private func sell(_ kind: Kind, in store: StoreHarness) async throws {
            let document = try SampleCatalog.offering { terms, club in
                if kind == .introductory {
                    club.introductoryOffer = terms
                } else {
                    club.promotionalOffers = [PromotionalOffer(id: Self.offer, terms: terms)]
                }
            }
            _ = try await store.administrator.importCatalog(document).value
            try await store.waitUntilSellable(SampleCatalog.club)
        }

        /// Makes the request, and the payments that come before it.
        ///
        /// A promotional offer is for who has subscribed, and begins with the next renewal.
        private func prepare(
            _ kind: Kind,
            for client: StoreClient,
            of store: StoreHarness
        ) async throws -> (payment: PaymentRequest, earlier: Int) {
            var payment = PaymentRequest.sample(SampleCatalog.club)
            guard kind == .promotional else { return (payment, 0) }
            let first = try await client.addUntilAnswered(payment).value.transaction
            try await client.wait(for: first.id, toBe: .purchased)
            payment.discount = try store.keys.discount(Self.offer, of: SampleCatalog.club)
            return (payment, 1)
        }
    }
}

extension StoreHarness {
    /// The number of accepted payments in the books, once these agree.
    fileprivate func paymentCount() async throws -> Int { try await agreedBooks().count }

    /// Finishes all that an account has in its queue, and expects one charge in books that agree.
    fileprivate func expectOneCharge(of client: StoreClient) async throws {
        let count = try await paymentCount()
        let queued = try await eventually("all payments to be delivered") {
            let queued = try await client.unfinished().value.transactions
            return queued.count == count && queued.allSatisfy(\.isDelivered) ? queued : nil
        }
        for entry in queued { try await client.finishUntilDone(entry.transaction.id) }
        let books = try await agreedBooks()
        #expect(books.map(\.charges.count).reduce(0, +) == 1)
    }
}
