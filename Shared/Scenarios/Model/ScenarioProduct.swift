public import EventTypes
import Foundation
public import StoreAPI

/// A product of a scenario.
public struct ScenarioProduct: Hashable, Sendable {
    /// The name in the file.
    public let name: String
    /// The type.
    public let type: ProductType
    /// The price in each storefront.
    public let prices: [Storefront: Money]
    /// The units that a purchase credits.
    public let credits: [String: Int64]
    /// Whether the account owns it after the purchase.
    public let hasEntitlement: Bool
    /// The names of the entitlements that it gives.
    public let entitlements: [EntitlementName]
    /// Whether the merchant's server delivers it.
    public let hasWebhook: Bool
    /// Whether the app delivers it by itself.
    public let isDeliveredByApp: Bool
    /// Whether it can be restored; `nil` for the default of its type.
    public let isRestorable: Bool?
    /// Whether families share it; `nil` for the default.
    public let isShareable: Bool?
    /// The group, the level and the period of a product that renews.
    public let subscription: SubscriptionTerms?
    /// The introductory offer of a product that renews.
    public let introductoryOffer: OfferTerms?
    /// The other offers of a product that renews, in the order of the file.
    public let offers: [ScenarioOffer]

    /// Describes the product to the catalog.
    ///
    /// - Parameter webhookURL: The address of the merchant's server.
    /// - Returns: The description. It leaves the plan to the catalog if the file names no target.
    public func draft(webhookURL: String) -> ProductDraft {
        var plan: [DeliveryTarget] = hasEntitlement ? [.entitlement] : []
        plan += credits.sorted { $0.key < $1.key }.map { .credit(unit: $0.key, amount: $0.value) }
        if hasWebhook { plan.append(.webhook(url: webhookURL)) }
        if isDeliveredByApp { plan.append(.app) }
        return ProductDraft(
            type: type,
            isRestorable: isRestorable,
            isFamilyShareable: isShareable,
            prices: prices,
            localizations: [
                LanguageTag(unchecked: "en"): ProductText(
                    title: name,
                    description: "A product of a scenario."
                )
            ],
            deliveryPlan: plan.isEmpty ? nil : plan,
            subscription: subscription,
            introductoryOffer: introductoryOffer,
            promotionalOffers: drafts(of: .promotional) { PromotionalOffer(id: $0, terms: $1) },
            codeOffers: drafts(of: .code) { CodeOffer(id: $0, terms: $1) },
            winBackOffers: drafts(of: .winBack) { WinBackOffer(id: $0, terms: $1) },
            entitlements: entitlements.isEmpty ? nil : entitlements
        )
    }

    /// Describes its offers of a kind; `nil` if it has none.
    private func drafts<Offer>(
        of kind: ScenarioOffer.Kind,
        _ draft: (OfferID, OfferTerms) -> Offer
    ) -> [Offer]? {
        let drafts = offers.filter { $0.kind == kind }
            .map { draft(OfferID(unchecked: $0.name), $0.terms) }
        return drafts.isEmpty ? nil : drafts
    }

    /// Returns the id under which a product is sold.
    ///
    /// It contains a digest of the description. The same product keeps its id in every run, and
    /// products of one name with different descriptions do not meet in one catalog.
    ///
    /// - Parameter draft: The description.
    /// - Returns: The id.
    /// - Throws: An error if the description cannot be written as JSON.
    public func id(of draft: ProductDraft) throws -> ProductID {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // FNV-1a, 64 bits: it only has to tell descriptions apart.
        let digest = try encoder.encode(draft).reduce(UInt64(0xCBF2_9CE4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
        }
        return ProductID(unchecked: "scenario.\(name).\(String(digest, radix: 16))")
    }
}
