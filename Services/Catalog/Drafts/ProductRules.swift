import EventTypes
import Foundation
import StoreAPI

/// The rules of what may be sold and how a product may change.
///
/// Pure: they see the current product and the administrator's word, and tell the new product or why
/// there is none.
enum ProductRules {
    /// The four types (spec rule 93).
    static let types: [ProductType] = [
        .consumable, .nonConsumable, .autoRenewableSubscription, .nonRenewingSubscription,
    ]
    /// The highest price in minor units.
    ///
    /// Ten of it in thousandths of the unit still fit in 64 bits.
    static let minorUnitsMax: Int64 = 100_000_000_000
    /// The most of a unit that one purchase credits.
    static let creditMax: Int64 = 1_000_000_000
    static let targetCountMax = 8
    static let languageCountMax = 100
    /// In code points, as the contract counts; a character may hold any number of them.
    static let titleLengthMax = 100
    /// In code points.
    static let descriptionLengthMax = 1000

    /// Whether a finished purchase of the type can be restored at all (spec rules 66 and 96).
    static func canBeRestored(_ type: ProductType) -> Bool {
        type == .nonConsumable || type == .autoRenewableSubscription
    }

    /// Whether a family may share the type at all: what is owned for good, or renews by itself.
    static func canBeShared(_ type: ProductType) -> Bool {
        type == .nonConsumable || type == .autoRenewableSubscription
    }

    /// Where a purchase goes if the product does not say: what is used up, to the app; what is
    /// owned, to the account.
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

    /// Whether a string is fit to name a unit of credit.
    static func isUnit(_ text: String) -> Bool {
        // A product id has the same characters.
        text.utf8.count <= 64 && ProductID.isWellFormed(text)
    }

    /// What an administrator wants of one product.
    struct Edit: Sendable {
        var id: ProductID
        var wish: Wish
        var precondition: Precondition = .none
    }

    /// The wish of an edit.
    enum Wish: Sendable {
        /// It shall be so; created if there is none.
        case put(ProductDraft)
        /// It shall leave sale.
        case takeOffSale
    }

    /// What must be so for an edit to be made.
    enum Precondition: Hashable, Sendable {
        case none
        /// There is such a product (`If-Match: *`).
        case exists
        /// There is no such product (`If-None-Match: *`).
        case isNew
        /// The product is at one of these versions (`If-Match: "3"`).
        case isAt(versions: Set<Int>)
    }

    /// What comes of an edit.
    enum Decision: Hashable, Sendable {
        case created(Product)
        case changed(Product)
        case unchanged(Product)
        case refused(Refusal)

        /// The product that has to be written, if one has.
        var written: Product? {
            switch self {
            case .created(let product), .changed(let product): product
            case .unchanged, .refused: nil
            }
        }
    }

    /// Why nothing comes of an edit.
    enum Refusal: Hashable, Sendable {
        /// There is no such product.
        case unknown(ProductID)
        /// A product's type never changes: what was bought stays what it was.
        case typeChange(ProductID, from: ProductType, to: ProductType)
        /// The precondition does not hold; the version there is, if any.
        case precondition(ProductID, currentVersion: Int?)
    }

    /// What a set of decisions writes: all of the new versions, or nothing if an edit is refused.
    static func written(by decisions: [Decision]) -> [Product] {
        let isRefused = decisions.contains { if case .refused = $0 { true } else { false } }
        return isRefused ? [] : decisions.compactMap(\.written)
    }

    /// Decides an edit.
    static func decide(_ edit: Edit, current: Product?) -> Decision {
        guard holds(edit.precondition, for: current) else {
            return .refused(.precondition(edit.id, currentVersion: current?.version))
        }
        switch edit.wish {
        case .takeOffSale:
            guard var product = current else { return .refused(.unknown(edit.id)) }
            guard product.isOnSale else { return .unchanged(product) }
            product.isOnSale = false
            product.version += 1
            return .changed(product)
        case .put(let draft):
            guard let current else {
                return .created(product(edit.id, version: 1, draft: draft, isOnSale: true))
            }
            guard current.type == draft.type else {
                return .refused(.typeChange(edit.id, from: current.type, to: draft.type))
            }
            // A product that left sale comes back only if that is said.
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
            localizations: draft.localizations,
            deliveryPlan: draft.deliveryPlan ?? defaultDeliveryPlan(of: draft.type)
        )
    }

    private static func holds(_ precondition: Precondition, for current: Product?) -> Bool {
        switch precondition {
        case .none: true
        case .exists: current != nil
        case .isNew: current == nil
        case .isAt(let versions): current.map { versions.contains($0.version) } ?? false
        }
    }

    /// A product as an administrator would send it, for an export.
    static func draft(of product: Product) -> ProductDraft {
        ProductDraft(
            type: product.type,
            isOnSale: product.isOnSale,
            isRestorable: product.isRestorable,
            isFamilyShareable: product.isFamilyShareable,
            prices: product.prices,
            localizations: product.localizations,
            deliveryPlan: product.deliveryPlan
        )
    }
}
