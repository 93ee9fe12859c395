import EventTypes

/// Products that renew, and the steps about them and about time.
extension ScenarioReader {
    static func decodeType(_ text: String) -> ProductType {
        text == ScenarioForms.autoRenewable
            ? .autoRenewableSubscription : ProductType(rawValue: text)
    }

    /// Decodes the terms of a product that renews; `nil` if it does not renew.
    static func decodeTerms(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> SubscriptionTerms? {
        guard value["type"]?.text == ScenarioForms.autoRenewable else {
            for name in ["group", "level", "period", "introductory", "offers"] {
                guard let member = value[name] else { continue }
                names.add(
                    ScenarioProblem(
                        member,
                        "only a product of the type '\(ScenarioForms.autoRenewable)' has '\(name)'"
                    )
                )
            }
            return nil
        }
        for name in ["group", "period"] where value[name] == nil {
            names.add(ScenarioProblem(value, "'\(name)' is missing, as the product renews"))
        }
        guard let group = value["group"]?.text, let period = value["period"]?.period else {
            return nil
        }
        if !sold.contains(period), let text = value["period"] {
            names.add(
                ScenarioProblem(text, "a period lasts 1 week, 1, 2, 3 or 6 months, or 1 year")
            )
        }
        return SubscriptionTerms(
            groupID: SubscriptionGroupID(unchecked: group),
            level: value["level"]?.whole ?? 1,
            period: period
        )
    }

    /// Decodes the introductory offer of a product with terms; `nil` if it has none.
    ///
    /// The catalog judges the offer.
    static func decodeIntroductoryOffer(
        _ value: LocatedValue,
        of terms: SubscriptionTerms?
    ) -> OfferTerms? {
        guard let terms, let offer = value["introductory"], let price = value["price"]?.money else {
            return nil
        }
        return decodeOffer(offer, of: terms, in: price.currency)
    }

    /// The periods that a catalog sells (rule S13).
    private static let sold: Set<SubscriptionPeriod> = [
        SubscriptionPeriod(1, .week), SubscriptionPeriod(1, .month), SubscriptionPeriod(2, .month),
        SubscriptionPeriod(3, .month), SubscriptionPeriod(6, .month), SubscriptionPeriod(1, .year),
    ]

    static func decodeSubscription(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> ScenarioAction? {
        let refused = value["refused"]?.text
        if let payment = value["cancel"] {
            return names.subscription(payment).map {
                .autoRenew(false, payment: $0, refused: refused)
            }
        }
        if let payment = value["change"], let product = value["to"] {
            for name in ["storefront", "canPay"] {
                guard let member = value[name] else { continue }
                names.add(ScenarioProblem(member, "'\(name)' is of an account, and 'to' is not"))
            }
            guard let payment = names.subscription(payment),
                let product = names.product(product)
            else { return nil }
            return .choose(product: product, payment: payment, refused: refused)
        }
        guard let resumed = value["resume"], let payment = names.payment(resumed) else {
            return nil
        }
        if names.isSubscription(payment), value["as"] == nil {
            return .autoRenew(true, payment: payment, refused: refused)
        }
        guard let name = value["as"] else {
            names.add(
                ScenarioProblem(value, "'as' is missing; it names the payment that goes on")
            )
            return nil
        }
        let product = names.productName(of: payment)
        let device = names.deviceName(of: payment)
        return names.declare(name, of: product, boughtOn: device).map {
            .resume(payment: payment, name: $0, refused: refused)
        }
    }

    static func decodeTest(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> ScenarioAction? {
        guard let test = value["test"], let account = test["account"] else { return nil }
        return names.account(account).map {
            .test(
                ScenarioTest(
                    account: $0,
                    hasGracePeriod: test["grace"]?.flag,
                    declinesRenewals: test["declineRenewals"]?.flag
                )
            )
        }
    }

    static func decodeClock(_ value: LocatedValue) -> ScenarioAction? {
        if let span = value["advance"]?.text.flatMap({ ClockSpan($0) }) {
            return .advance(span, isAwaited: !(value["unanswered"]?.flag ?? false))
        }
        if let clock = value["clock"]?.text.flatMap(ScenarioClock.init) { return .clock(clock) }
        return value["pass"]?.text.flatMap { ClockSpan($0) }.map { .pass($0) }
    }
}
