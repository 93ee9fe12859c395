import EventTypes
import Foundation
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing
import TestSupport
import Testing

@testable import Payments

/// A code offer: three months for 0.99 USD each, unless it says otherwise.
func spring(
    _ terms: OfferTerms = threeMonths,
    customers: [CustomerKind] = CustomerKind.all,
    isStackable: Bool = false,
    isActive: Bool = true
) -> CodeOffer {
    CodeOffer(
        id: OfferID(unchecked: "spring"),
        isActive: isActive,
        customers: customers,
        isStackable: isStackable,
        terms: terms
    )
}

func club(
    _ id: String = "club",
    level: Int = 1,
    offer: OfferTerms? = nil,
    code: CodeOffer,
    version: Int = 1
) -> Product {
    var product = club(id, level: level, version: version, offer: offer)
    product.codeOffers = [code]
    return product
}

/// The page for codes without HTTP, and the administrator who makes them.
struct CodeDesk: Sendable {
    let store: Store
    let campaigns: CampaignHandler
    let redemptions: RedemptionHandler

    static let mia = Act(
        decidedBy: AdministratorName(unchecked: "mia"),
        reason: ActReason(rawValue: "Spring")
    )

    /// Makes a desk, whose page takes so many unknown codes from an address.
    init(_ store: Store, triesOfAddressMax: Int = 1000) {
        self.store = store
        campaigns = CampaignHandler(
            client: store.client,
            products: ProductStore(),
            now: store.clock.now
        )
        redemptions = RedemptionHandler(
            context: store.context,
            products: ProductStore(),
            methodRefusal: { [processor = store.processor] in processor.refusal(of: $0) },
            pay: { submission in
                try #require(try await store.payments.accept([submission]).first)
            },
            addresses: AddressTries(triesMax: triesOfAddressMax)
        )
    }

    /// Makes one-time codes of the offer of `club`.
    func codes(
        _ count: Int = 1,
        of product: String = "club",
        in bundle: BundleID = alice.bundleID,
        until end: StoreTime? = nil
    ) async throws -> [String] {
        let reply = try await campaigns.create(
            CodeCampaignRequest(
                bundleID: bundle,
                productID: ProductID(unchecked: product),
                offerID: OfferID(unchecked: "spring"),
                count: count,
                expiresAt: end
            ),
            by: Self.mia
        )
        guard case .campaign(_, let codes) = reply else { throw PaymentError(.undecided) }
        return codes
    }

    /// Makes a custom code.
    func word(_ word: String, redemptions: Int) async throws -> CampaignHandler.Reply {
        try await campaigns.create(
            CodeCampaignRequest(
                bundleID: alice.bundleID,
                productID: ProductID(unchecked: "club"),
                offerID: OfferID(unchecked: "spring"),
                count: redemptions,
                word: word
            ),
            by: Self.mia
        )
    }

    func ticket(
        of account: AuthenticatedAccount = alice,
        method: SandboxPaymentMethod = .success
    ) async throws -> String {
        try await redemptions.open(
            RedemptionTicketRequest(
                storefront: Storefront(unchecked: "USA"),
                paymentMethod: method.method
            ),
            for: account.accountKey
        )
    }

    /// Types a code on the page.
    func type(_ code: String) async throws -> RedemptionHandler.Reply {
        let ticket = try await ticket()
        return try await redemptions.redeem(code, ticket, confirmed: nil, trace: .begin())
    }

    /// The terms that a code would have.
    func terms(of code: String, for account: AuthenticatedAccount = alice) async throws -> CodeTerms
    {
        try await terms(of: code, with: try await ticket(of: account))
    }

    /// The terms that a code would have, on the page of a ticket.
    func terms(of code: String, with ticket: String) async throws -> CodeTerms {
        switch try await redemptions.redeem(code, ticket, confirmed: nil, trace: .begin()) {
        case .offered(let terms): return terms
        case .refused(let refusal): throw refusal
        default: throw PaymentError(.undecided)
        }
    }

    /// Types a code, confirms what it gives and returns the payment, not charged yet.
    @discardableResult
    func redeem(
        _ code: String,
        of account: AuthenticatedAccount = alice,
        method: SandboxPaymentMethod = .success
    ) async throws -> Transaction {
        let ticket = try await ticket(of: account, method: method)
        return try await confirm(try await terms(of: code, with: ticket), code, ticket)
    }

    /// Confirms terms.
    func confirm(_ terms: CodeTerms, _ code: String, _ ticket: String) async throws -> Transaction {
        let reply = try await redemptions.redeem(
            code,
            ticket,
            confirmed: terms.mark,
            trace: .begin()
        )
        switch reply {
        case .redeemed(let answer):
            return try EventCoding.decode(TransactionChanged.self, from: answer).transaction
        case .refused(let refusal): throw refusal
        default: throw PaymentError(.undecided)
        }
    }

    /// Redeems a code and has it charged.
    @discardableResult
    func buy(
        _ code: String,
        of account: AuthenticatedAccount = alice,
        method: SandboxPaymentMethod = .success
    ) async throws -> Transaction {
        let added = try await redeem(code, of: account, method: method)
        try await store.settle()
        return try await store.load(added.id)
    }

    /// Expects that the counts of codes are those of the payments that did not fail.
    func expectCountsAreTrue(_ location: SourceLocation = #_sourceLocation) async throws {
        let wrong = try await store.client.withConnection { connection in
            try connection.query(
                """
                SELECT 'count of ' || o.digest FROM offer_codes o
                WHERE o.redemptions <> (SELECT count(*) FROM code_redemptions r
                    WHERE r.digest = o.digest)
                UNION ALL
                SELECT 'failed ' || r.transaction_id FROM code_redemptions r
                JOIN transactions t ON t.id = r.transaction_id WHERE t.state = 'failed'
                UNION ALL
                SELECT 'unknown ' || t.id FROM transactions t
                WHERE t.state <> 'failed' AND NOT EXISTS (
                    SELECT FROM code_redemptions r WHERE r.transaction_id = t.id)
                AND (t.subscription -> 'redeems' ->> 'type' = 'code'
                    OR t.subscription -> 'offer' ->> 'type' = 'code'
                    AND t.subscription -> 'offer' ->> 'number' = '1'
                    AND t.subscription ->> 'charge' IS NULL
                    AND t.subscription ->> 'paidBy' IS NULL)
                """
            ).map { try $0.decode(String.self) }
        }
        #expect(wrong == [], sourceLocation: location)
    }
}

/// Runs a test in a store whose club has a code offer.
func withCodes(
    _ product: Product = club(code: spring()),
    poolSize: Int = 2,
    _ body: @Sendable (Store, CodeDesk) async throws -> Void
) async throws {
    try await withStore(poolSize: poolSize) { store in
        try await store.sell(product)
        let desk = CodeDesk(store)
        try await body(store, desk)
        try await desk.expectCountsAreTrue()
        #expect(try await store.booksBalance())
    }
}
