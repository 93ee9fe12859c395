import EventTypes
import StoreAPI
import StoreHarness

/// The offers of the run, grace periods, and the extension of all subscribers.
extension ChaosBuyers {
    /// The win-back offer of the monthly club.
    static let winBack = OfferID(unchecked: "chaos_come_back")
    /// The promotional offer of gold and of the weekly club.
    static let promotional = OfferID(unchecked: "chaos_stay")
    /// The products that have it.
    static let promoted: Set = [SampleCatalog.gold, SampleCatalog.weeklyClub]
    /// The prices that rise while the clock passes: subscribers of basic are only told, the others
    /// have to agree.
    static let raisedPrices = [
        SampleCatalog.weeklyClub: SampleCatalog.usd(699),
        SampleCatalog.club: SampleCatalog.usd(999),
        SampleCatalog.basicClub: SampleCatalog.usd(179),
        SampleCatalog.gold: SampleCatalog.usd(6299),
        SampleCatalog.yearlyClub: SampleCatalog.usd(8999),
    ]
    /// The product whose subscribers are all extended.
    private static let extended = SampleCatalog.club

    /// A payment for a subscription, perhaps with an offer.
    ///
    /// - Parameters:
    ///   - product: The subscription.
    ///   - method: The payment method.
    ///   - known: The subscription that the account has or had.
    ///   - random: Chooses whether the payment names an offer.
    /// - Returns: The payment; the store refuses an offer that the account may not have.
    /// - Throws: An error if the merchant's key cannot be read.
    func payment(
        for product: ProductID,
        by method: SandboxPaymentMethod,
        after known: Subscription?,
        using random: inout SeededGenerator
    ) throws -> PaymentRequest {
        var request = PaymentRequest.sample(product, by: method)
        if let raised = Self.raisedPrices[product], acts.isRaised(product) {
            request.price = raised
        }
        let wantsOffer = Bool.random(using: &random)
        guard let known, wantsOffer else { return request }
        if product == SampleCatalog.club, known.state == .expired {
            request.offer = ShownOffer(type: .winBack, id: Self.winBack)
        } else if Self.promoted.contains(product) {
            request.discount = try store.keys.discount(Self.promotional, of: product)
        } else if product == SampleCatalog.basicClub, known.state == .expired {
            request.introductoryOfferEligibility = try store.keys.introductoryOfferEligibility(
                true,
                of: product
            )
        }
        return request
    }

    /// Gives every fourth account a grace period, if the sandbox's own processor charges.
    ///
    /// - Throws: An error if the store refuses it.
    func giveGrace() async throws {
        guard store.stripe == nil else { return }
        var settings = TestSettingsDocument(bundleID: StoreKeys.bundleID)
        settings.hasGracePeriod = true
        for index in stride(from: 0, to: accounts, by: 4) {
            _ = try await administrator(store.urls).set(settings, for: account(index)).value
        }
    }

    /// Extends all subscribers of a product, and waits until each has had its turn.
    func extendAll() async throws {
        let wanted = MassExtensionRequest(
            bundleID: StoreKeys.bundleID,
            productID: Self.extended,
            days: 5
        )
        while true {
            let answer = try await untilAnswered("an extension of all", by: .payments) { urls in
                try await administrator(urls).extendAll(wanted, key: "chaos-extend-all")
            }
            guard let made = answer.valueIfAny?.request else {
                return note(refusal: answer.problem?.code ?? "\(answer.status)")
            }
            if made.completedAt != nil { return acts.note(made) }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Counts the subscriptions that the request for all subscribers has extended.
    func countExtended() async throws {
        guard let made = acts.massExtension else { return acts.note(extended: 0) }
        // The identifier that payments gives the extension of each subscription.
        let id = "mass extension \(made.number)"
        var count: Int64 = 0
        for index in 0..<accounts {
            for subscription in try await subscriptions(of: index)
            where subscription.extensions?.contains(where: { $0.id == id }) == true {
                count += 1
            }
        }
        acts.note(extended: count)
    }
}
