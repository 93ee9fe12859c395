import EventTypes
import Foundation
import StoreAPI

/// The rules for which products may be sold and how a product may change.
///
/// Pure: from the current product and the administrator's edit they decide the new product, or why
/// the edit is refused.
enum ProductRules {
    /// The four types (spec rule 93).
    static let types: [ProductType] = [
        .consumable, .nonConsumable, .autoRenewableSubscription, .nonRenewingSubscription,
    ]
    /// The highest price in minor units.
    ///
    /// Ten times this price, in thousandths of the currency's unit, still fits in 64 bits.
    static let minorUnitsMax: Int64 = 100_000_000_000
    /// The lengths that a paid period of a subscription may have.
    static let periods = [
        SubscriptionPeriod(1, .week), SubscriptionPeriod(1, .month), SubscriptionPeriod(2, .month),
        SubscriptionPeriod(3, .month), SubscriptionPeriod(6, .month), SubscriptionPeriod(1, .year),
    ]
    /// The lowest level of a subscription group.
    static let levelMax: Int64 = 1000
    /// The largest amount of a unit that one purchase credits.
    static let creditMax: Int64 = 1_000_000_000
    static let targetCountMax = 8
    static let languageCountMax = 100
    static let entitlementCountMax = 20
    /// Counted in code points, as in the contract; a character may consist of any number of them.
    static let titleLengthMax = 100
    /// Counted in code points.
    static let descriptionLengthMax = 1000

    /// Whether a finished purchase of the type can be restored at all (spec rules 66 and 96).
    static func canBeRestored(_ type: ProductType) -> Bool {
        type == .nonConsumable || type == .autoRenewableSubscription
    }

    /// Whether a family may share products of the type: those that are owned for good or renew by
    /// themselves.
    static func canBeShared(_ type: ProductType) -> Bool {
        type == .nonConsumable || type == .autoRenewableSubscription
    }

    /// The delivery plan of a product that names none: consumables go to the app, everything else
    /// to the account.
    static func defaultDeliveryPlan(of type: ProductType) -> [DeliveryTarget] {
        type == .consumable ? [.app] : [.entitlement]
    }

    /// Whether two targets of one plan would deliver the same thing to the same place.
    static func isSameTarget(_ left: DeliveryTarget, _ right: DeliveryTarget) -> Bool {
        if case .credit(let leftUnit, _) = left, case .credit(let rightUnit, _) = right {
            return leftUnit == rightUnit
        }
        return left == right
    }

    /// The problem of the title of a product or the name of a group; `nil` if it has none.
    static func problem(ofTitle text: String) -> String? {
        if text.allSatisfy(\.isWhitespace) { return "is empty" }
        if text.unicodeScalars.count > titleLengthMax {
            return "has more than \(titleLengthMax) characters"
        }
        let isControl = text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        return isControl ? "holds a control character" : nil
    }

    /// Whether a string is a valid name for a unit of credit.
    static func isUnit(_ text: String) -> Bool {
        // A product id has the same characters.
        text.utf8.count <= 64 && ProductID.isWellFormed(text)
    }

    /// An administrator's edit of one product.
    struct Edit: Sendable {
        var id: ProductID
        var wish: Wish
        var precondition: Precondition = .none
    }

    /// The change that an edit asks for.
    enum Wish: Sendable {
        /// Creates the product or replaces it with the draft.
        case put(ProductDraft)
        /// Takes the product off sale.
        case takeOffSale
    }

    /// The condition under which an edit is made.
    enum Precondition: Hashable, Sendable {
        case none
        /// The product exists (`If-Match: *`).
        case exists
        /// The product does not exist yet (`If-None-Match: *`).
        case isNew
        /// The product is at one of these versions (`If-Match: "3"`).
        case isAt(versions: Set<Int>)

        /// Whether it holds for something at a version; `nil` means that the thing does not exist.
        func holds(at version: Int?) -> Bool {
            switch self {
            case .none: true
            case .exists: version != nil
            case .isNew: version == nil
            case .isAt(let versions): version.map(versions.contains) ?? false
            }
        }
    }

    /// The decision on an edit.
    enum Decision: Hashable, Sendable {
        case created(Product)
        case changed(Product)
        case unchanged(Product)
        case refused(Refusal)

        /// The product to write; `nil` if nothing changes.
        var written: Product? {
            switch self {
            case .created(let product), .changed(let product): product
            case .unchanged, .refused: nil
            }
        }
    }

    /// The reason why an edit is refused.
    enum Refusal: Hashable, Sendable {
        /// There is no such product.
        case unknown(ProductID)
        /// The edit changes the product's type, which has to stay as buyers bought it.
        case typeChange(ProductID, from: ProductType, to: ProductType)
        /// The edit moves a subscription to another group, or takes it out of its group.
        case groupChange(ProductID, from: SubscriptionGroupID, to: SubscriptionGroupID?)
        /// The edit changes the length of a subscription's periods.
        case periodChange(ProductID, from: SubscriptionPeriod, to: SubscriptionPeriod)
        /// The edit ends the sharing of the product in families, which its buyers have paid for (rule S15).
        case sharingEnd(ProductID)
        /// The edit schedules a price for a time that has passed.
        case pastPriceChange(ProductID, Storefront, from: StoreTime)
        /// The edit schedules the price that the product has already.
        case samePriceChange(ProductID, Storefront)
        /// The precondition does not hold; `currentVersion` is `nil` if there is no such product.
        case precondition(ProductID, currentVersion: Int?)
    }

    /// Decides an edit.
    ///
    /// - Parameters:
    ///   - edit: The edit.
    ///   - current: The product at its newest version; `nil` if there is none.
    ///   - time: The present, which decides what prices are in force.
    /// - Returns: The decision.
    static func decide(_ edit: Edit, current: Product?, at time: StoreTime) -> Decision {
        let stored = current
        let current = stored?.inForce(at: time)
        guard edit.precondition.holds(at: current?.version) else {
            return .refused(.precondition(edit.id, currentVersion: current?.version))
        }
        switch edit.wish {
        case .takeOffSale:
            guard var product = current else { return .refused(.unknown(edit.id)) }
            guard product.isOnSale else { return .unchanged(product) }
            product.isOnSale = false
            product.version += 1
            return .changed(product)
        case .put(var draft):
            if let refusal = settleChanges(of: &draft, edit.id, meeting: stored, at: time) {
                return .refused(refusal)
            }
            guard let current else {
                return .created(product(edit.id, version: 1, draft: draft, isOnSale: true))
            }
            guard current.type == draft.type else {
                return .refused(.typeChange(edit.id, from: current.type, to: draft.type))
            }
            if let terms = current.subscription {
                guard let wished = draft.subscription, wished.groupID == terms.groupID else {
                    let wished = draft.subscription?.groupID
                    return .refused(.groupChange(edit.id, from: terms.groupID, to: wished))
                }
                guard wished.period == terms.period else {
                    return .refused(
                        .periodChange(edit.id, from: terms.period, to: wished.period)
                    )
                }
            }
            if current.isFamilyShareable {
                guard draft.isFamilyShareable != false else {
                    return .refused(.sharingEnd(edit.id))
                }
                draft.isFamilyShareable = true
            }
            // A product that is off sale stays off sale unless the draft puts it on sale.
            var product = product(
                edit.id,
                version: current.version,
                draft: draft,
                isOnSale: current.isOnSale
            )
            guard product != current else { return .unchanged(current) }
            product.version += 1
            return .changed(product)
        }
    }

    /// Brings the scheduled prices of a draft up to date, or says why they are refused.
    ///
    /// A change may have come into force since the administrator read the product. A draft that has the
    /// price from before it then gets the new one. Beside such a change any other price is refused,
    /// because the two contradict each other. A past change that the product does not have comes from
    /// the export of another store. It is left out if its price is the draft's.
    private static func settleChanges(
        of draft: inout ProductDraft,
        _ id: ProductID,
        meeting stored: Product?,
        at time: StoreTime
    ) -> Refusal? {
        for (storefront, change) in (draft.priceChanges ?? [:]).sorted(by: { $0.key < $1.key }) {
            if change.from > time {
                guard change.price != draft.prices[storefront] else {
                    return .samePriceChange(id, storefront)
                }
            } else if let stored, stored.priceChanges[storefront] == change {
                let price = draft.prices[storefront]
                guard price == change.price || price == stored.prices[storefront] else {
                    return .pastPriceChange(id, storefront, from: change.from)
                }
                draft.prices[storefront] = change.price
            } else if draft.prices[storefront] == change.price {
                draft.priceChanges?[storefront] = nil
            } else {
                return .pastPriceChange(id, storefront, from: change.from)
            }
        }
        return nil
    }

    private static func product(
        _ id: ProductID,
        version: Int,
        draft: ProductDraft,
        isOnSale: Bool
    ) -> Product {
        Product(
            id: id,
            version: version,
            type: draft.type,
            isOnSale: draft.isOnSale ?? isOnSale,
            isRestorable: draft.isRestorable ?? canBeRestored(draft.type),
            isFamilyShareable: draft.isFamilyShareable ?? false,
            prices: draft.prices,
            priceChanges: draft.priceChanges ?? [:],
            localizations: draft.localizations,
            deliveryPlan: draft.deliveryPlan ?? defaultDeliveryPlan(of: draft.type),
            subscription: draft.subscription,
            introductoryOffer: draft.introductoryOffer,
            promotionalOffers: draft.promotionalOffers ?? [],
            codeOffers: draft.codeOffers ?? [],
            winBackOffers: draft.winBackOffers ?? [],
            entitlements: draft.entitlements ?? []
        )
    }

    /// The sum of the products' versions; with that of the groups it is the version of the catalog.
    ///
    /// A product begins at version 1, each change adds 1, and no product is ever deleted. So every
    /// change of the catalog gives it a higher version.
    static func version(of catalog: [Product]) -> Int { catalog.reduce(0) { $0 + $1.version } }

    /// Converts a product into the draft that an administrator would send, for an export.
    static func draft(of product: Product) -> ProductDraft {
        ProductDraft(
            type: product.type,
            isOnSale: product.isOnSale,
            isRestorable: product.isRestorable,
            isFamilyShareable: product.isFamilyShareable,
            prices: product.prices,
            priceChanges: product.priceChanges.isEmpty ? nil : product.priceChanges,
            localizations: product.localizations,
            deliveryPlan: product.deliveryPlan,
            subscription: product.subscription,
            introductoryOffer: product.introductoryOffer,
            promotionalOffers: product.promotionalOffers.isEmpty
                ? nil : product.promotionalOffers,
            codeOffers: product.codeOffers.isEmpty ? nil : product.codeOffers,
            winBackOffers: product.winBackOffers.isEmpty ? nil : product.winBackOffers,
            entitlements: product.entitlements.isEmpty ? nil : product.entitlements
        )
    }
}
