import EventTypes
import ServiceKit
import StoreAPI

/// Reads a product that an administrator sent, and collects all its problems.
///
/// Pure: it depends neither on the stored products nor on the time.
struct ProductDraftReader {
    private(set) var problems: [ProductProblem] = []
    private let productID: String

    /// Reads one product.
    ///
    /// - Returns: The product, or all its problems if there are any.
    static func read(
        _ json: JSONValue,
        id: String
    ) -> (product: (id: ProductID, draft: ProductDraft)?, problems: [ProductProblem]) {
        var reader = ProductDraftReader(productID: id)
        let productID = ProductID(rawValue: id)
        if productID == nil { reader.note("", "is not \(ProductID.form)") }
        let draft = reader.draft(json)
        guard reader.problems.isEmpty, let productID, let draft else {
            return (nil, reader.problems)
        }
        return ((productID, draft), [])
    }

    private init(productID: String) { self.productID = productID }

    mutating func note(_ field: String, _ problem: String) {
        problems.append(ProductProblem(productID: productID, field: field, problem: problem))
    }

    private mutating func draft(_ json: JSONValue) -> ProductDraft? {
        let names: Set = [
            "type", "isOnSale", "isRestorable", "isFamilyShareable", "prices", "priceChanges",
            "localizations", "deliveryPlan", "subscription", "introductoryOffer",
            "promotionalOffers", "codeOffers", "winBackOffers", "entitlements", "reason",
        ]
        guard
            let members = object(
                json,
                "",
                of: names,
                required: ["type", "prices", "localizations"]
            )
        else { return nil }
        let type = type(members["type"])
        let isOnSale = bool(members["isOnSale"], "isOnSale")
        let isRestorable = bool(members["isRestorable"], "isRestorable")
        if isRestorable == true, let type, !ProductRules.canBeRestored(type) {
            note("isRestorable", "must not be true: a \(type) is never restored")
        }
        let isFamilyShareable = bool(members["isFamilyShareable"], "isFamilyShareable")
        if isFamilyShareable == true, let type, !ProductRules.canBeShared(type) {
            note("isFamilyShareable", "must not be true: a \(type) is never shared")
        }
        let prices = prices(members["prices"])
        let priceChanges = priceChanges(members["priceChanges"], of: type, meeting: prices)
        let localizations = localizations(members["localizations"])
        let deliveryPlan = deliveryPlan(members["deliveryPlan"], of: type)
        let subscription = subscription(members["subscription"], of: type)
        let offers = offers(members, of: type, subscription, meeting: prices)
        check(priceChanges ?? [:], against: offers.terms, of: subscription, meeting: prices)
        let entitlements = entitlements(members["entitlements"], of: type, deliveryPlan)
        let reason = reason(members["reason"])
        guard let type else { return nil }
        return ProductDraft(
            type: type,
            isOnSale: isOnSale,
            isRestorable: isRestorable,
            isFamilyShareable: isFamilyShareable,
            prices: prices,
            priceChanges: priceChanges,
            localizations: localizations,
            deliveryPlan: deliveryPlan,
            subscription: subscription,
            introductoryOffer: offers.introductory,
            promotionalOffers: offers.promotional,
            codeOffers: offers.codes,
            winBackOffers: offers.winBacks,
            entitlements: entitlements,
            reason: reason
        )
    }

    /// Reads why the administrator makes the change.
    private mutating func reason(_ json: JSONValue?) -> ActReason? {
        guard let json, json != .null, let text = string(json, "reason") else { return nil }
        let reason = ActReason(rawValue: text)
        if reason == nil { note("reason", "is not \(ActReason.form)") }
        // The reason is kept for ever.
        if CardNumber.isIn(text) { note("reason", "has the number of a card in it") }
        return reason
    }

    private mutating func type(_ json: JSONValue?) -> ProductType? {
        guard let name = string(json, "type") else { return nil }
        let type = ProductType(rawValue: name)
        guard ProductRules.types.contains(type) else {
            let known = ProductRules.types.map(\.rawValue).joined(separator: ", ")
            note("type", "is '\(ProductProblem.shortened(name))'; it must be one of \(known)")
            return nil
        }
        return type
    }

    /// Reads a price for each storefront.
    mutating func prices(
        _ json: JSONValue?,
        _ name: String = "prices"
    ) -> [Storefront: Money] {
        guard let json, let members = object(json, name) else { return [:] }
        if members.isEmpty { note(name, "must hold at least one price") }
        var prices: [Storefront: Money] = [:]
        for (key, value) in members.sorted(by: { $0.key < $1.key }) {
            let field = name + "." + ProductProblem.shortened(key)
            let storefront = Storefront(rawValue: key)
            if storefront == nil { note(field, "is not \(Storefront.form)") }
            let price = price(value, field)
            if let storefront, let price { prices[storefront] = price }
        }
        return prices
    }

    mutating func price(_ json: JSONValue, _ field: String) -> Money? {
        let names: Set = ["minorUnits", "currency"]
        guard let members = object(json, field, of: names, required: names) else { return nil }
        let code = string(members["currency"], field + ".currency")
        let currency = code.flatMap { Currency(rawValue: $0) }
        if let code, currency == nil {
            note(
                field + ".currency",
                "is '\(ProductProblem.shortened(code))', not \(Currency.form)"
            )
        }
        let amount = integer(
            members["minorUnits"],
            field + ".minorUnits",
            in: 0...ProductRules.minorUnitsMax
        )
        guard let currency, let amount else { return nil }
        return Money(minorUnits: amount, currency: currency)
    }

    private mutating func localizations(_ json: JSONValue?) -> [LanguageTag: ProductText] {
        guard let json, let members = object(json, "localizations") else { return [:] }
        if members.isEmpty { note("localizations", "must hold at least one language") }
        if members.count > ProductRules.languageCountMax {
            note("localizations", "must hold at most \(ProductRules.languageCountMax) languages")
        }
        var texts: [LanguageTag: ProductText] = [:]
        var seen: Set<String> = []
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            let field = "localizations." + ProductProblem.shortened(name)
            let tag = LanguageTag(rawValue: name)
            if tag == nil { note(field, "is not \(LanguageTag.form)") }
            if !seen.insert(name.lowercased()).inserted {
                note(field, "is given twice; languages differ by more than the case of letters")
            }
            let names: Set = ["title", "description"]
            guard let text = object(value, field, of: names, required: names) else { continue }
            let title = text["title"].flatMap { self.title($0, field + ".title") }
            let description = text["description"].flatMap {
                self.description($0, field + ".description")
            }
            if let tag, let title, let description {
                texts[tag] = ProductText(title: title, description: description)
            }
        }
        return texts
    }

    private mutating func title(_ json: JSONValue, _ field: String) -> String? {
        guard let text = string(json, field) else { return nil }
        if let problem = ProductRules.problem(ofTitle: text) { note(field, problem) }
        return text
    }

    private mutating func description(_ json: JSONValue, _ field: String) -> String? {
        guard let text = string(json, field) else { return nil }
        if text.unicodeScalars.count > ProductRules.descriptionLengthMax {
            note(field, "has more than \(ProductRules.descriptionLengthMax) characters")
        } else if text.unicodeScalars.contains(where: {
            $0.properties.generalCategory == .control && $0 != "\n"
        }) {
            note(field, "holds a control character")
        }
        return text
    }

    private mutating func deliveryPlan(
        _ json: JSONValue?,
        of type: ProductType?
    ) -> [DeliveryTarget]? {
        guard let json, json != .null else { return nil }
        guard case .array(let elements) = json else {
            note("deliveryPlan", "is \(json.kind), not an array")
            return nil
        }
        if elements.isEmpty {
            note("deliveryPlan", "must hold at least one target, or be left out")
        }
        if elements.count > ProductRules.targetCountMax {
            note("deliveryPlan", "must hold at most \(ProductRules.targetCountMax) targets")
        }
        var targets: [DeliveryTarget] = []
        for (index, element) in elements.prefix(ProductRules.targetCountMax).enumerated() {
            let field = "deliveryPlan[\(index)]"
            guard let target = target(element, field) else { continue }
            if targets.contains(where: { ProductRules.isSameTarget($0, target) }) {
                note(field, "is given twice")
            }
            if target == .entitlement, type == .consumable {
                note(field, "must not be an entitlement: a consumable is used up, not owned")
            }
            targets.append(target)
        }
        return targets
    }

    /// Reads the names of the entitlements, which only a product that an account owns can give.
    private mutating func entitlements(
        _ json: JSONValue?,
        of type: ProductType?,
        _ deliveryPlan: [DeliveryTarget]?
    ) -> [EntitlementName]? {
        guard let json, json != .null else { return nil }
        guard case .array(let elements) = json else {
            note("entitlements", "is \(json.kind), not an array")
            return nil
        }
        if elements.count > ProductRules.entitlementCountMax {
            note("entitlements", "must hold at most \(ProductRules.entitlementCountMax) names")
        }
        let isOwned = type.map {
            (deliveryPlan ?? ProductRules.defaultDeliveryPlan(of: $0)).contains(.entitlement)
        }
        if isOwned == false, !elements.isEmpty {
            note("entitlements", "must be left out: the delivery plan has no entitlement")
        }
        var names: [EntitlementName] = []
        for (index, element) in elements.prefix(ProductRules.entitlementCountMax).enumerated() {
            let field = "entitlements[\(index)]"
            guard let text = string(element, field) else { continue }
            guard let name = EntitlementName(rawValue: text) else {
                note(field, "is '\(ProductProblem.shortened(text))', not \(EntitlementName.form)")
                continue
            }
            if names.contains(name) { note(field, "is given twice") }
            names.append(name)
        }
        return names
    }

    private mutating func target(_ json: JSONValue, _ field: String) -> DeliveryTarget? {
        guard let members = object(json, field, required: ["kind"]),
            let kind = string(members["kind"], field + ".kind")
        else { return nil }
        switch kind {
        case "entitlement", "app":
            _ = object(json, field, of: ["kind"])
            return kind == "app" ? .app : .entitlement
        case "credit":
            let names: Set = ["kind", "unit", "amount"]
            guard let members = object(json, field, of: names, required: names) else { return nil }
            let unit = string(members["unit"], field + ".unit")
            if let unit, !ProductRules.isUnit(unit) {
                note(
                    field + ".unit",
                    "is not 1 to 64 letters, digits, hyphens, underscores and full stops"
                )
            }
            let amount = integer(
                members["amount"],
                field + ".amount",
                in: 1...ProductRules.creditMax
            )
            guard let unit, let amount else { return nil }
            return .credit(unit: unit, amount: amount)
        case "webhook":
            let names: Set = ["kind", "url"]
            guard let members = object(json, field, of: names, required: names) else { return nil }
            guard let url = string(members["url"], field + ".url") else { return nil }
            if let problem = EndpointAddress.problem(of: url) {
                note(field + ".url", problem)
            }
            return .webhook(url: url)
        default:
            note(
                field + ".kind",
                "is '\(ProductProblem.shortened(kind))'; it must be entitlement, credit, webhook "
                    + "or app"
            )
            return nil
        }
    }

    /// Returns the members of an object, and adds a problem for each that is unknown or missing.
    mutating func object(
        _ json: JSONValue,
        _ field: String,
        of names: Set<String>? = nil,
        required: Set<String> = []
    ) -> [String: JSONValue]? {
        guard case .object(let members) = json else {
            note(field, "is \(json.kind), not an object")
            return nil
        }
        func path(_ name: String) -> String {
            (field.isEmpty ? "" : field + ".") + ProductProblem.shortened(name)
        }
        if let names {
            for name in members.keys.sorted() where !names.contains(name) {
                note(path(name), "is not a field of the catalog")
            }
        }
        for name in required.sorted() where members[name] == nil {
            note(path(name), "is missing")
        }
        return members
    }

    mutating func string(_ json: JSONValue?, _ field: String) -> String? {
        guard let json else { return nil }
        guard case .string(let text) = json else {
            note(field, "is \(json.kind), not a text")
            return nil
        }
        return text
    }

    mutating func bool(_ json: JSONValue?, _ field: String) -> Bool? {
        guard let json, json != .null else { return nil }
        guard case .bool(let value) = json else {
            note(field, "is \(json.kind), not true or false")
            return nil
        }
        return value
    }

    mutating func integer(
        _ json: JSONValue?,
        _ field: String,
        in range: ClosedRange<Int64>
    ) -> Int64? {
        guard let json else { return nil }
        guard case .integer(let number) = json else {
            note(field, "is \(json.kind), not a whole number")
            return nil
        }
        guard range.contains(number) else {
            note(field, "is \(number); it must be from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return number
    }
}
