public import EventTypes

/// The whole catalog as one document, for import and export.
public struct CatalogDocument: Codable, Hashable, Sendable {
    /// The products, by identifier.
    public var products: [ProductID: ProductDraft]
    /// The names of subscription groups, by the group's identifier.
    ///
    /// `nil` if no group has a name. Each of the groups has a product, in the document or in the
    /// catalog.
    public var subscriptionGroups: [SubscriptionGroupID: SubscriptionGroupDraft]?

    /// Makes a document.
    public init(
        products: [ProductID: ProductDraft],
        subscriptionGroups: [SubscriptionGroupID: SubscriptionGroupDraft]? = nil
    ) {
        self.products = products
        self.subscriptionGroups = subscriptionGroups
    }
}
