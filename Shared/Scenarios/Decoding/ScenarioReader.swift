import EventTypes
import StoreAPI

/// Reads scenario files.
public enum ScenarioReader {
    /// Larger files are refused.
    private static let bytesMax = 1 << 20

    /// Reads a scenario from YAML or JSON.
    ///
    /// - Parameter text: The file's text.
    /// - Returns: The scenario.
    /// - Throws: ``ScenarioProblems`` with every mistake that was found.
    public static func read(_ text: String) throws(ScenarioProblems) -> Scenario {
        guard text.utf8.count <= bytesMax else {
            throw ScenarioProblems([
                ScenarioProblem(line: 1, column: 1, "the file is larger than a mebibyte")
            ])
        }
        let root: LocatedValue
        do {
            root = try LocatedValue(yaml: text)
        } catch {
            throw ScenarioProblems([error])
        }
        var check = FormCheck()
        check.check(root, ScenarioForms.document)
        guard check.problems.isEmpty else { throw ScenarioProblems(check.problems) }
        var names = ScenarioNames(root)
        let products = decodeProducts(root, &names)
        names.offers = Dictionary(uniqueKeysWithValues: products.map { ($0.name, $0.offers) })
        let steps = decodeSteps(root["steps"]?.elements ?? [], &names)
        guard names.problems.isEmpty else { throw ScenarioProblems(names.problems) }
        return Scenario(
            name: root["scenario"]?.text ?? "",
            about: root["about"]?.text,
            seed: root["seed"]?.whole.map(UInt64.init) ?? 1,
            products: products,
            accounts: names.accounts.map { name in
                decodeAccount(name, root["accounts"]?[name])
            },
            devices: names.devices,
            steps: steps
        )
    }

    private static func decodeProducts(
        _ root: LocatedValue,
        _ names: inout ScenarioNames
    ) -> [ScenarioProduct] {
        (root["products"]?.members ?? []).map { member in
            let value = member.value
            var prices: [Storefront: Money] = [:]
            prices[Storefront(unchecked: "USA")] = value["price"]?.money
            for price in value["prices"]?.members ?? [] {
                if let storefront = Storefront(rawValue: price.name) {
                    prices[storefront] = price.value.money
                } else {
                    names.add(
                        ScenarioProblem(
                            line: price.nameLine,
                            column: price.nameColumn,
                            "'\(price.name)' is not \(Storefront.form)"
                        )
                    )
                }
            }
            var credits: [String: Int64] = [:]
            for credit in value["credits"]?.members ?? [] {
                credits[credit.name] = credit.value.whole.map(Int64.init)
            }
            let terms = decodeTerms(value, &names)
            return ScenarioProduct(
                name: member.name,
                type: decodeType(value["type"]?.text ?? ""),
                prices: prices,
                credits: credits,
                hasEntitlement: value["entitlement"]?.flag ?? false,
                entitlements: (value["entitlements"]?.elements ?? [])
                    .compactMap(\.text).map(EntitlementName.init(unchecked:)),
                hasWebhook: value["webhook"]?.flag ?? false,
                isDeliveredByApp: value["app"]?.flag ?? false,
                isRestorable: value["restorable"]?.flag,
                isShareable: value["shareable"]?.flag,
                subscription: terms,
                introductoryOffer: decodeIntroductoryOffer(value, of: terms),
                offers: decodeOffers(value, of: terms)
            )
        }
    }

    static func decodeAccount(_ name: String, _ value: LocatedValue?) -> ScenarioAccount {
        ScenarioAccount(
            name: name,
            storefront: value?["storefront"]?.text.map(Storefront.init(unchecked:)),
            canPay: value?["canPay"]?.flag
        )
    }

    private static func decodeSteps(
        _ values: [LocatedValue],
        _ names: inout ScenarioNames
    ) -> [ScenarioStep] {
        values.compactMap { value in
            decodeAction(value, &names).map { ScenarioStep(line: value.line, action: $0) }
        }
    }

    /// Decodes a step whose form is right; `nil` if a name in it is wrong.
    private static func decodeAction(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> ScenarioAction? {
        if let product = value["buy"] { return decodePurchase(value, product, &names) }
        if let steps = value["shuffle"] {
            return .shuffle(
                names.inAnyOrder { names in decodeSteps(steps.elements, &names) }
            )
        }
        if let expectation = value["expect"] {
            return .expect(ScenarioFacts.decode(expectation, &names))
        }
        // Two expressions, because the compiler needs too long for one.
        let ofPayments =
            decodeDecision(value, &names) ?? decodeAfterPurchase(value, &names)
            ?? decodeSubscription(value, &names) ?? decodeMerchant(value, &names)
            ?? decodeCode(value, &names) ?? decodePrice(value, &names)
        return ofPayments ?? decodeBank(value, &names) ?? decodeSurroundings(value, &names)
            ?? decodeClock(value) ?? decodeFault(value, &names) ?? decodeTest(value, &names)
    }

    private static func decodePurchase(
        _ value: LocatedValue,
        _ product: LocatedValue,
        _ names: inout ScenarioNames
    ) -> ScenarioAction? {
        let device = names.device(value["device"])
        guard let productName = names.product(product), let device,
            let name = names.declare(value["as"] ?? product, of: productName, boughtOn: device)
        else { return nil }
        let offer = value["offer"].flatMap { names.redeemedOffer($0, of: productName) }
        let isUnanswered = value["unanswered"]?.flag ?? false
        if isUnanswered, let refused = value["refused"] {
            names.add(
                ScenarioProblem(refused, "without an answer the run cannot see a refusal")
            )
        }
        return .buy(
            ScenarioPurchase(
                name: name,
                product: productName,
                device: device,
                method: value["method"]?.text.flatMap {
                    SandboxPaymentMethod(rawValue: "sandbox_\($0)")
                } ?? .success,
                quantity: value["quantity"]?.whole ?? 1,
                offer: offer,
                refused: value["refused"]?.text,
                isUnanswered: isUnanswered
            )
        )
    }

    private static func decodeDecision(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> ScenarioAction? {
        let refused = value["refused"]?.text
        if let payment = value["approve"] {
            return names.payment(payment).map {
                .decide(.approve, payment: $0, refused: refused)
            }
        }
        if let payment = value["decline"] {
            return names.payment(payment).map {
                .decide(.decline, payment: $0, refused: refused)
            }
        }
        return nil
    }

    private static func decodeAfterPurchase(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> ScenarioAction? {
        let refused = value["refused"]?.text
        if let payment = value["refund"] {
            return names.payment(payment).map {
                .refund(
                    payment: $0,
                    amount: value["amount"]?.money,
                    revokes: value["revokes"]?.flag,
                    refused: refused
                )
            }
        }
        if let payment = value["reverse"] {
            return names.payment(payment).map {
                .reverse(payment: $0, refund: value["number"]?.whole ?? 1, refused: refused)
            }
        }
        if let payment = value["finish"] {
            guard let name = names.payment(payment) else { return nil }
            guard let asked = value["device"] else {
                return .finish(payment: name, device: names.deviceName(of: name))
            }
            return names.device(asked).map { .finish(payment: name, device: $0) }
        }
        return nil
    }

    private static func decodeSurroundings(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> ScenarioAction? {
        if let device = value["restore"] {
            return names.device(device).map { .restore(device: $0) }
        }
        if let device = value["start"] { return names.device(device).map { .start(device: $0) } }
        if let device = value["stop"] { return names.device(device).map { .stop(device: $0) } }
        if let account = value["change"], value["to"] == nil {
            if let refused = value["refused"] {
                names.add(ScenarioProblem(refused, "only a change with 'to' can be refused"))
            }
            return names.account(account).map { .change(decodeAccount($0, value)) }
        }
        return nil
    }

    private static func decodeFault(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> ScenarioAction? {
        if let service = value["kill"]?.service { return .kill(service) }
        if let service = value["restart"]?.service { return .restart(service) }
        if let service = value["freeze"]?.service { return .freeze(service) }
        if let service = value["thaw"]?.service { return .thaw(service) }
        if let answer = value["drop"]?.text.flatMap(DroppedAnswer.init(rawValue:)) {
            return .drop(answer, times: value["times"]?.whole ?? 1)
        }
        if let payment = value["duplicate"] {
            return names.payment(payment).map { .duplicate(payment: $0) }
        }
        if let payment = value["reorder"] {
            return names.subscription(payment).map { .reorder(payment: $0) }
        }
        return value["answer"]?.whole.map { .answer(status: $0) }
    }
}
