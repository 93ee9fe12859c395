import EventTypes

/// Reads the facts of an expectation.
enum ScenarioFacts {
    /// Decodes an expectation whose form is right, and notes wrong names.
    static func decode(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> [ScenarioFact] {
        var facts: [ScenarioFact] = []
        let device = value["device"].flatMap { names.device($0) }
        for member in value["queue"]?.members ?? [] {
            guard let payment = names.payment(member) else { continue }
            let subject = ScenarioSubject.states(
                payment: payment,
                device: device ?? names.deviceName(of: payment)
            )
            facts.append(member.fact(subject, .sequence(member.value.texts)))
        }
        if let restored = value["restored"], let device = device ?? names.device(nil) {
            let products = restored.elements.compactMap { names.product($0) }
            facts.append(
                ScenarioFact(
                    line: restored.line,
                    subject: .restored(device: device),
                    expected: .set(Set(products))
                )
            )
        }
        return facts + decodeAccounts(value, &names) + decodePayments(value, &names)
            + decodeSubscriptions(value, &names)
    }

    private static func decodeAccounts(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> [ScenarioFact] {
        var facts: [ScenarioFact] = []
        for member in value["unfinished"]?.members ?? [] {
            guard let account = names.account(member) else { continue }
            let payments = member.value.elements.compactMap { names.queued($0) }
            facts.append(member.fact(.unfinished(account: account), .set(Set(payments))))
        }
        for member in value["awaitsBuyer"]?.members ?? [] {
            guard let account = names.account(member) else { continue }
            let payments = member.value.elements.compactMap { names.queued($0) }
            facts.append(member.fact(.awaitingBuyer(account: account), .set(Set(payments))))
        }
        for member in value["owns"]?.members ?? [] {
            guard let account = names.account(member) else { continue }
            let products = member.value.elements.compactMap { names.product($0) }
            facts.append(member.fact(.owned(account: account), .set(Set(products))))
        }
        for member in value["entitlements"]?.members ?? [] {
            guard let account = names.account(member) else { continue }
            facts.append(member.fact(.entitled(account: account), .set(Set(member.value.texts))))
        }
        for member in value["credits"]?.members ?? [] {
            guard let account = names.account(member) else { continue }
            for unit in member.value.members {
                facts.append(
                    unit.fact(
                        .credit(account: account, unit: unit.name),
                        .text(unit.value.text ?? "")
                    )
                )
            }
        }
        return facts
    }

    private static func decodePayments(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> [ScenarioFact] {
        var facts: [ScenarioFact] = []
        for (group, subject) in Self.fieldGroups {
            for member in value[group]?.members ?? [] {
                guard let payment = names.payment(member) else { continue }
                for field in member.value.members {
                    if group == "receipt", field.name == "product",
                        names.product(field.value) == nil
                    {
                        continue
                    }
                    facts.append(field.fact(subject(payment, field.name), .text(field.plain)))
                }
            }
        }
        for member in value["notifications"]?.members ?? [] {
            guard let payment = names.payment(member) else { continue }
            facts.append(
                member.fact(.notifications(payment: payment), .sequence(member.value.texts))
            )
        }
        for member in value["webhooks"]?.members ?? [] {
            guard let payment = names.payment(member) else { continue }
            facts.append(member.fact(.webhooks(payment: payment), .sequence(member.value.texts)))
        }
        return facts
    }

    private static func decodeSubscriptions(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> [ScenarioFact] {
        var facts: [ScenarioFact] = []
        for member in value["subscription"]?.members ?? [] {
            guard let payment = names.subscription(member) else { continue }
            for field in member.value.members {
                if ["product", "next"].contains(field.name), names.product(field.value) == nil {
                    continue
                }
                if let kind = ScenarioPeriodEnd.Kind(rawValue: field.name),
                    let length = field.value.period
                {
                    let end = ScenarioPeriodEnd(
                        kind: kind,
                        isInMonths: length.unit == .month || length.unit == .year
                    )
                    let subject = ScenarioSubject.subscriptionEnd(payment: payment, end: end)
                    facts.append(field.fact(subject, .text(end.text(length))))
                    continue
                }
                facts.append(
                    field.fact(
                        .subscription(payment: payment, field: field.name),
                        .text(field.plain)
                    )
                )
            }
        }
        return facts
    }

    private static let fieldGroups: [(String, @Sendable (String, String) -> ScenarioSubject)] = [
        ("transaction", { .transaction(payment: $0, field: $1) }),
        ("receipt", { .receipt(payment: $0, field: $1) }),
        ("ledger", { .ledger(payment: $0, account: $1) }),
    ]
}

extension LocatedValue {
    /// The texts of a list.
    fileprivate var texts: [String] { elements.compactMap(\.text) }
}

extension LocatedValue.Member {
    fileprivate func fact(_ subject: ScenarioSubject, _ value: ScenarioValue) -> ScenarioFact {
        ScenarioFact(line: nameLine, subject: subject, expected: value)
    }

    /// The text in its usual form: `0.99 USD` for `0.990 USD` if the currency has three decimals.
    fileprivate var plain: String {
        value.money.map(\.description) ?? value.text ?? ""
    }
}
