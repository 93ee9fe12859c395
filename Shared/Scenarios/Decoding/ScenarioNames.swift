/// The names that a file declares, and the mistakes in those that it uses.
struct ScenarioNames {
    private(set) var problems: [ScenarioProblem] = []
    private(set) var devices: [ScenarioDevice]
    /// All accounts, sorted.
    let accounts: [String]
    private let products: [String]
    /// The products that renew.
    private let renewingProducts: Set<String>
    /// The device and the product of each payment that was declared so far.
    private var payments: [String: (device: String, product: String)] = [:]
    /// The payments that were declared in the shuffled steps around, which may come later.
    private var unordered: Set<String> = []
    private var shuffleDepth = 0
    /// The reasons of transactions that the store makes by itself, so that no step names them.
    private static let unnamedReasons = ["renewal", "familyShared"]

    /// The offers of each product that have a name.
    var offers: [String: [ScenarioOffer]] = [:]
    /// The product of each campaign that was declared so far.
    private var campaigns: [String: String] = [:]

    init(_ root: LocatedValue) {
        products = (root["products"]?.members ?? []).map(\.name)
        renewingProducts = Set(
            (root["products"]?.members ?? []).filter {
                $0.value["type"]?.text == ScenarioForms.autoRenewable
            }.map(\.name)
        )
        let declared = (root["devices"]?.members ?? []).map {
            ScenarioDevice(name: $0.name, account: $0.value.text ?? "")
        }
        devices = declared.isEmpty ? [ScenarioDevice(name: "phone", account: "ada")] : declared
        let settings = (root["accounts"]?.members ?? []).map(\.name)
        accounts = Set(devices.map(\.account) + settings).sorted()
    }

    mutating func add(_ problem: ScenarioProblem) { problems.append(problem) }

    /// The name of a product that exists.
    mutating func product(_ value: LocatedValue) -> String? {
        resolve(value, "product", among: products)
    }

    /// The name of an account that exists.
    mutating func account(_ value: LocatedValue) -> String? {
        resolve(value, "account", among: accounts)
    }

    /// The name of an account that exists.
    mutating func account(_ member: LocatedValue.Member) -> String? {
        resolve(member, "account", among: accounts)
    }

    /// The name of a device that exists, or of the first one.
    mutating func device(_ value: LocatedValue?) -> String? {
        guard let value else { return devices.first?.name }
        return resolve(value, "device", among: devices.map(\.name))
    }

    /// The name of a payment that was declared before.
    mutating func payment(_ value: LocatedValue) -> String? {
        guard let name = resolve(value, "payment", among: payments.keys.sorted()) else {
            return nil
        }
        if unordered.contains(name) {
            add(
                ScenarioProblem(
                    value,
                    "'\(name)' is bought in the same shuffle, and may come later; end the shuffle first"
                )
            )
        }
        return name
    }

    /// The name of a payment that was declared before.
    mutating func payment(_ member: LocatedValue.Member) -> String? {
        resolve(member, "payment", among: payments.keys.sorted())
    }

    /// The name of a payment that was declared before, or the reason and the product of transactions
    /// that no step made, such as `renewal of gold`.
    mutating func queued(_ value: LocatedValue) -> String? {
        let words = (value.text ?? "").split(separator: " ").map(String.init)
        guard words.count == 3, words[1] == "of", Self.unnamedReasons.contains(words[0]) else {
            return payment(value)
        }
        guard products.contains(words[2]) else {
            add(ScenarioProblem(value, Self.unknown(words[2], "product", among: products)))
            return nil
        }
        return value.text
    }

    /// The name of a payment that was declared before and that belongs to a subscription.
    mutating func subscription(_ value: LocatedValue) -> String? {
        guard let name = payment(value) else { return nil }
        guard isSubscription(name) else {
            let product = payments[name]?.product ?? name
            add(ScenarioProblem(value, "'\(product)' does not renew; its type is another one"))
            return nil
        }
        return name
    }

    /// The name of a payment that was declared before and that belongs to a subscription.
    mutating func subscription(_ member: LocatedValue.Member) -> String? {
        guard let name = payment(member) else { return nil }
        guard isSubscription(name) else {
            let product = payments[name]?.product ?? name
            let problem = ScenarioProblem(
                line: member.nameLine,
                column: member.nameColumn,
                "'\(product)' does not renew; its type is another one"
            )
            add(problem)
            return nil
        }
        return name
    }

    /// Whether a payment that was declared belongs to a subscription.
    func isSubscription(_ payment: String) -> Bool {
        payments[payment].map { renewingProducts.contains($0.product) } ?? false
    }

    /// The device of a payment that was declared.
    func deviceName(of payment: String) -> String {
        payments[payment]?.device ?? devices[0].name
    }

    /// The product of a payment that was declared.
    func productName(of payment: String) -> String { payments[payment]?.product ?? payment }

    /// Declares a payment.
    ///
    /// - Returns: Its name; `nil` if another payment has it.
    mutating func declare(
        _ value: LocatedValue,
        of product: String,
        boughtOn device: String
    ) -> String? {
        guard let name = value.text else { return nil }
        guard payments[name] == nil else {
            add(
                ScenarioProblem(
                    value,
                    "another payment is called '\(name)'; give this one a name with 'as'"
                )
            )
            return nil
        }
        payments[name] = (device, product)
        if shuffleDepth > 0 { unordered.insert(name) }
        return name
    }

    /// The offer of a product that codes are made for.
    mutating func codeOffer(_ value: LocatedValue, of product: String) -> ScenarioOffer? {
        guard let offer = offer(value, of: product) else { return nil }
        guard offer.kind == .code else {
            add(ScenarioProblem(value, "the offer '\(offer.name)' is not of the kind 'code'"))
            return nil
        }
        return offer
    }

    /// The offer of a product that a payment redeems.
    mutating func redeemedOffer(_ value: LocatedValue, of product: String) -> ScenarioOffer? {
        guard let offer = offer(value, of: product) else { return nil }
        guard offer.kind != .code else {
            add(
                ScenarioProblem(
                    value,
                    "the offer '\(offer.name)' is had by a code; use 'campaign' and 'redeem'"
                )
            )
            return nil
        }
        return offer
    }

    private mutating func offer(_ value: LocatedValue, of product: String) -> ScenarioOffer? {
        let known = offers[product] ?? []
        guard let name = resolve(value, "offer", among: known.map(\.name)) else { return nil }
        return known.first { $0.name == name }
    }

    /// Declares a campaign for a product.
    ///
    /// - Returns: Its name; `nil` if another campaign has it.
    mutating func declareCampaign(_ value: LocatedValue, of product: String) -> String? {
        guard let name = value.text else { return nil }
        guard shuffleDepth == 0 else {
            add(ScenarioProblem(value, "a campaign is made before a shuffle, not in it"))
            return nil
        }
        guard campaigns[name] == nil else {
            add(ScenarioProblem(value, "another campaign is called '\(name)'"))
            return nil
        }
        campaigns[name] = product
        return name
    }

    /// A campaign that was declared before, and its product.
    mutating func campaign(_ value: LocatedValue) -> (name: String, product: String)? {
        guard let name = resolve(value, "campaign", among: campaigns.keys.sorted()),
            let product = campaigns[name]
        else { return nil }
        return (name, product)
    }

    /// Reads steps that come in any order, so that none may use what another declares.
    mutating func inAnyOrder<Result>(_ read: (inout ScenarioNames) -> Result) -> Result {
        shuffleDepth += 1
        let result = read(&self)
        shuffleDepth -= 1
        if shuffleDepth == 0 { unordered = [] }
        return result
    }

    private mutating func resolve(
        _ value: LocatedValue,
        _ kind: String,
        among known: [String]
    ) -> String? {
        guard let name = value.text else { return nil }
        if known.contains(name) { return name }
        add(ScenarioProblem(value, Self.unknown(name, kind, among: known)))
        return nil
    }

    private mutating func resolve(
        _ member: LocatedValue.Member,
        _ kind: String,
        among known: [String]
    ) -> String? {
        if known.contains(member.name) { return member.name }
        add(
            ScenarioProblem(
                line: member.nameLine,
                column: member.nameColumn,
                Self.unknown(member.name, kind, among: known)
            )
        )
        return nil
    }

    private static func unknown(_ name: String, _ kind: String, among known: [String]) -> String {
        "there is no \(kind) '\(name)' here; \(Spelling.advice(for: name, among: known))"
    }
}
