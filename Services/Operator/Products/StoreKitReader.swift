import EventTypes
import Foundation
import OperatorCore
import StoreAPI
import StoreTest

/// Reads Xcode's StoreKit configuration file and says what becomes of each part of it.
///
/// Files of the versions 1 to 4 occur, with members that are missing, null or unknown. Only a product
/// that cannot be understood makes the file unusable.
///
/// Pure: it depends only on the file and the options.
struct StoreKitReader {
    /// The content of a file.
    struct Content: Sendable {
        var storefront: Storefront
        var products: [ProductID: ProductDraft]
        /// The groups that have a name in the file.
        var groups: [SubscriptionGroupID: SubscriptionGroupDraft]
        var notes: [StoreKitNote]

        /// Whether nothing in the file has to be corrected.
        var isUsable: Bool { !notes.contains { $0.outcome == .wrong } }
    }

    typealias Members = [String: Any]

    private static let productMembers: Set = [
        "displayPrice", "familyShareable", "internalID", "localizations", "productID",
        "referenceName", "type",
    ]
    private static let subscriptionMembers: Set = [
        "groupNumber", "subscriptionGroupID", "recurringSubscriptionPeriod", "introductoryOffer",
        "adHocOffers", "codeOffers", "winbackOffers",
    ]
    /// Settings that say in which storefront the prices are, and in which language the texts.
    private static let catalogSettings: Set = ["_locale", "_storefront"]
    /// Lengths that Xcode accepts and that the catalog writes differently.
    static let sameLengths = ["P7D": "P1W", "P14D": "P2W", "P12M": "P1Y"]

    let storefront: Storefront
    let currency: Currency
    private let language: LanguageTag
    private var products: [ProductID: ProductDraft] = [:]
    private var groups: [SubscriptionGroupID: SubscriptionGroupDraft] = [:]
    private var notes: [StoreKitNote] = []

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - data: The file's content.
    ///   - storefront: The storefront of the prices; `nil` means the file's own, or the USA.
    ///   - currency: The currency of the prices; `nil` means the storefront's.
    /// - Returns: The products, and what became of each part of the file.
    /// - Throws: ``OperatorError`` if the file is no JSON object or has no currency.
    static func read(
        _ data: Data,
        storefront: Storefront? = nil,
        currency: Currency? = nil
    ) throws(OperatorError) -> Content {
        let json = try? JSONSerialization.jsonObject(with: data)
        // Settings cannot be read for the same reason: the file is no JSON object.
        guard let file = json as? Members, let settings = try? StoreKitSettings(data) else {
            throw OperatorError(
                .failed,
                "The file is not a JSON object, so it is not a StoreKit file."
            )
        }
        let named = (file["settings"] as? Members)?["_storefront"] as? String
        let own = settings.storefront
        let storefront = storefront ?? own ?? Storefront(unchecked: "USA")
        guard let currency = currency ?? StorefrontCurrencies.currency(of: storefront) else {
            throw OperatorError(
                .usage,
                "Prices in \(storefront) have no currency in the file: name it with --currency."
            )
        }
        var reader = StoreKitReader(
            storefront: storefront,
            currency: currency,
            language: settings.language ?? LanguageTag(unchecked: "en")
        )
        if let named, own == nil {
            reader.note(
                .notTaken,
                "setting _storefront",
                "is '\(named)', which is not \(Storefront.form); prices are for \(storefront)"
            )
        }
        reader.read(file)
        reader.note(settings)
        return Content(
            storefront: storefront,
            products: reader.products,
            groups: reader.groups,
            notes: reader.notes
        )
    }

    private init(storefront: Storefront, currency: Currency, language: LanguageTag) {
        self.storefront = storefront
        self.currency = currency
        self.language = language
    }

    mutating func note(_ outcome: StoreKitNote.Outcome, _ subject: String, _ text: String) {
        notes.append(StoreKitNote(outcome: outcome, subject: subject, text: text))
    }

    private mutating func read(_ file: Members) {
        let major = (file["version"] as? Members)?["major"] as? Int
        if let major, !(1...4).contains(major) {
            note(.changed, "version", "is \(major); the file is read as version 4")
        }
        let known: Set = [
            "identifier", "nonRenewingSubscriptions", "products", "settings", "subscriptionGroups",
            "version",
        ]
        for name in file.keys.sorted()
        where !known.contains(name) && Self.hasContent(file[name]) {
            note(.notTaken, name, "is not a known member")
        }
        for product in list(file, "products") { read(product, as: nil, in: nil) }
        for product in list(file, "nonRenewingSubscriptions") {
            read(product, as: .nonRenewingSubscription, in: nil)
        }
        for group in list(file, "subscriptionGroups") { read(group: group) }
    }

    /// The objects in an array; a missing array is empty.
    mutating func list(_ members: Members, _ name: String) -> [Members] {
        guard let value = members[name], !(value is NSNull) else { return [] }
        guard let elements = value as? [Members] else {
            note(.wrong, name, "is not an array of objects")
            return []
        }
        return elements
    }

    private mutating func read(group: Members) {
        let name = group["name"] as? String
        let id = group["id"] as? String ?? name
        let subject = "group \(id ?? "without an id")"
        if let name, name != id {
            note(.notTaken, subject, "has the name '\(name)', which the catalog does not keep")
        }
        let subscriptions = list(group, "subscriptions")
        let names = names(of: group, subject)
        // A product notes an id that is malformed.
        if !names.isEmpty, let groupID = SubscriptionGroupID(rawValue: id ?? "") {
            let languages = names.keys.sorted().map(\.rawValue).joined(separator: ", ")
            if subscriptions.isEmpty {
                note(.notTaken, subject, "has names, but no subscription")
            } else {
                groups[groupID] = SubscriptionGroupDraft(localizations: names)
                note(.taken, subject, "with its name in \(languages)")
            }
        }
        for product in subscriptions { read(product, as: .autoRenewableSubscription, in: id) }
    }

    /// The names of a group in each language.
    private mutating func names(
        of group: Members,
        _ subject: String
    ) -> [LanguageTag: SubscriptionGroupText] {
        var names: [LanguageTag: SubscriptionGroupText] = [:]
        for text in group["localizations"] as? [Members] ?? [] {
            let locale = text["locale"] as? String ?? ""
            let name = text["displayName"] as? String ?? ""
            guard let tag = Self.languageTag(locale) else {
                note(.notTaken, subject, "has a name in '\(locale)', which is not a locale")
                continue
            }
            if Self.hasContent(text["description"]) {
                note(
                    .notTaken,
                    subject,
                    "has a description in \(tag), which the catalog does not keep"
                )
            }
            guard !name.allSatisfy(\.isWhitespace) else { continue }
            names[tag] = SubscriptionGroupText(name: name)
        }
        return names
    }

    private mutating func read(
        _ product: Members,
        as section: ProductType?,
        in group: String?
    ) {
        let name = product["productID"] as? String ?? ""
        let subject = "product \(name.isEmpty ? "without an id" : name)"
        guard let id = ProductID(rawValue: name) else {
            return note(.wrong, subject, "has no productID that is \(ProductID.form)")
        }
        guard products[id] == nil else { return note(.wrong, subject, "is there twice") }
        guard let type = section ?? Self.type(product["type"]) else {
            return note(.wrong, subject, "has a type that is not Consumable or NonConsumable")
        }
        guard let price = price(of: product, subject) else { return }
        var draft = ProductDraft(
            type: type,
            prices: [storefront: price],
            localizations: texts(of: product, subject)
        )
        draft.isFamilyShareable = product["familyShareable"] as? Bool
        if draft.isFamilyShareable == true, type != .nonConsumable,
            type != .autoRenewableSubscription
        {
            note(.changed, subject, "cannot be shared with a family, because it is a \(type)")
            draft.isFamilyShareable = false
        }
        if type == .autoRenewableSubscription {
            guard let terms = terms(of: product, in: group, subject) else { return }
            draft.subscription = terms
            draft.introductoryOffer = introductoryOffer(of: product, for: terms, subject)
            draft.promotionalOffers = promotionalOffers(of: product, for: terms, subject)
            draft.codeOffers = codeOffers(of: product, for: terms, subject)
            draft.winBackOffers = winBackOffers(of: product, for: terms, subject)
        }
        noteRest(of: product, type, subject)
        products[id] = draft
        let terms = draft.subscription.map { ", \($0.period), level \($0.level) of \($0.groupID)" }
        note(.taken, subject, "as \(type) for \(price) in \(storefront)\(terms ?? "")")
    }

    /// Tells of the members of a product that the catalog has no place for.
    private mutating func noteRest(of product: Members, _ type: ProductType, _ subject: String) {
        for name in product.keys.sorted() where Self.hasContent(product[name]) {
            if !Self.productMembers.contains(name),
                type != .autoRenewableSubscription || !Self.subscriptionMembers.contains(name)
            {
                note(.notTaken, subject, "has \(name), which is not a known member")
            }
        }
    }

    private static func type(_ value: Any?) -> ProductType? {
        switch value as? String {
        case "Consumable": .consumable
        case "NonConsumable": .nonConsumable
        case "NonRenewingSubscription": .nonRenewingSubscription
        default: nil
        }
    }

    mutating func price(of product: Members, _ subject: String) -> Money? {
        guard let text = product["displayPrice"] as? String else {
            note(.wrong, subject, "has no displayPrice as a text, such as \"9.99\"")
            return nil
        }
        // `30.00` is written for currencies without decimals, too.
        var amount = text
        if let point = text.firstIndex(of: ".") {
            let decimals = text[text.index(after: point)...]
            let kept = decimals.prefix(currency.exponent)
            if decimals.dropFirst(currency.exponent).allSatisfy({ $0 == "0" }) {
                amount = String(text[..<point]) + (kept.isEmpty ? "" : "." + kept)
            }
        }
        guard let price = Money(amount, currency) else {
            let example = Money.example(currency)
            note(.wrong, subject, "has the price '\(text)'; in \(currency) write it as \(example)")
            return nil
        }
        return price
    }

    private mutating func texts(
        of product: Members,
        _ subject: String
    ) -> [LanguageTag: ProductText] {
        let reference = product["referenceName"] as? String ?? ""
        var texts: [LanguageTag: ProductText] = [:]
        for text in product["localizations"] as? [Members] ?? [] {
            let locale = text["locale"] as? String ?? ""
            let title = text["displayName"] as? String ?? ""
            guard let tag = Self.languageTag(locale) else {
                note(.notTaken, subject, "has texts in '\(locale)', which is not a locale")
                continue
            }
            guard !title.allSatisfy(\.isWhitespace) else { continue }
            let description = text["description"] as? String ?? ""
            texts[tag] = ProductText(title: title, description: description)
        }
        guard texts.isEmpty else { return texts }
        let title = reference.isEmpty ? product["productID"] as? String ?? "" : reference
        note(.changed, subject, "has no texts; its title in \(language) is '\(title)'")
        return [language: ProductText(title: title, description: "")]
    }

    private mutating func terms(
        of product: Members,
        in group: String?,
        _ subject: String
    ) -> SubscriptionTerms? {
        let name = group ?? product["subscriptionGroupID"] as? String ?? ""
        guard let groupID = SubscriptionGroupID(rawValue: name) else {
            note(
                .wrong,
                subject,
                "is in group '\(name)', which is not \(SubscriptionGroupID.form)"
            )
            return nil
        }
        let length = product["recurringSubscriptionPeriod"] as? String ?? ""
        let same = Self.sameLengths[length]
        guard let period = SubscriptionPeriod(iso8601: same ?? length) else {
            note(.wrong, subject, "has no recurringSubscriptionPeriod such as P1M")
            return nil
        }
        if let same { note(.changed, subject, "renews every \(same), written as \(length)") }
        let level = product["groupNumber"] as? Int
        if level == nil { note(.changed, subject, "has no groupNumber; its level is 1") }
        return SubscriptionTerms(groupID: groupID, level: level ?? 1, period: period)
    }

    /// Tells of the settings that a catalog has no place for.
    private mutating func note(_ settings: StoreKitSettings) {
        for line in settings.lines where !Self.catalogSettings.contains(line.setting) {
            let text = line.isTaken ? "\(line.text); \(Self.testCommand)" : line.text
            note(.notTaken, "setting \(line.setting)", text)
        }
    }

    private static let testCommand = "'counterfoil test set ACCOUNT --storekit FILE' follows it"

    /// Whether a member says anything: not null, false, zero or empty.
    static func hasContent(_ value: Any?) -> Bool {
        switch value {
        case nil, is NSNull: false
        case let text as String: !text.isEmpty
        case let list as [Any]: !list.isEmpty
        case let members as Members: !members.isEmpty
        case let number as NSNumber: number != 0
        default: true
        }
    }

    /// Converts Xcode's `en_US` into the catalog's `en-US`.
    private static func languageTag(_ locale: String) -> LanguageTag? {
        LanguageTag(rawValue: locale.replacing("_", with: "-"))
    }
}
