import EventTypes
import Foundation
import StoreAPI

@testable import Catalog

/// Makes products for tests.
enum Builder {
    static func money(_ minorUnits: Int64, _ currency: String) -> Money {
        Money(minorUnits: minorUnits, currency: Currency(unchecked: currency))
    }

    static func draft(
        _ type: ProductType = .nonConsumable,
        cents: Int64 = 499,
        isOnSale: Bool? = nil,
        isRestorable: Bool? = nil,
        plan: [DeliveryTarget]? = nil
    ) -> ProductDraft {
        ProductDraft(
            type: type,
            isOnSale: isOnSale,
            isRestorable: isRestorable,
            prices: [usa: money(cents, "USD")],
            localizations: [en: ProductText(title: "Premium", description: "Everything.")],
            deliveryPlan: plan
        )
    }

    static func subscription(
        group: String = "club",
        level: Int = 1,
        period: SubscriptionPeriod = SubscriptionPeriod(1, .month)
    ) -> ProductDraft {
        var draft = draft(.autoRenewableSubscription)
        draft.subscription = SubscriptionTerms(
            groupID: SubscriptionGroupID(unchecked: group),
            level: level,
            period: period
        )
        return draft
    }

    static func product(
        _ id: ProductID = premium,
        version: Int = 1,
        draft: ProductDraft = draft()
    ) -> Product {
        let edit = ProductRules.Edit(id: id, wish: .put(draft))
        guard var product = ProductRules.decide(edit, current: nil).written else {
            preconditionFailure("A product that does not exist can be created.")
        }
        product.version = version
        return product
    }

    static let premium = ProductID(unchecked: "com.example.premium")
    static let coins = ProductID(unchecked: "com.example.coins.100")
    static let usa = Storefront(unchecked: "USA")
    static let france = Storefront(unchecked: "FRA")
    static let en = LanguageTag(unchecked: "en")

    /// A product as an administrator sends it, with members replaced; `nil` removes one.
    static func json(replacing members: [String: String?] = [:]) -> String {
        var all: [String: String] = [
            "type": #""nonConsumable""#,
            "prices": #"{"USA": {"minorUnits": 499, "currency": "USD"}}"#,
            "localizations": #"{"en": {"title": "Premium", "description": "Everything."}}"#,
        ]
        for (name, value) in members { all[name] = value }
        return "{"
            + all.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }
            .joined(separator: ", ") + "}"
    }

    static func value(_ json: String) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
    }
}

extension Builder {
    /// A time at which no price changes.
    static let now = StoreTime(millisecondsSinceEpoch: 1_800_000_000_000)
}

extension ProductRules {
    static func decide(_ edit: Edit, current: Product?) -> Decision {
        decide(edit, current: current, at: Builder.now)
    }
}

extension PriceList {
    func page(
        in storefront: Storefront,
        language: LanguageTag,
        after previous: ProductID? = nil,
        countMax: Int
    ) -> ProductsResponse {
        page(
            in: storefront,
            language: language,
            after: previous,
            countMax: countMax,
            at: Builder.now
        )
    }

    func response(
        to identifiers: [String],
        in storefront: Storefront,
        language: LanguageTag
    ) -> ProductsResponse {
        response(to: identifiers, in: storefront, language: language, at: Builder.now)
    }

    func listing(
        of product: Product,
        in storefront: Storefront,
        language: LanguageTag
    ) -> ProductListing? {
        listing(of: product, in: storefront, language: language, at: Builder.now)
    }
}
