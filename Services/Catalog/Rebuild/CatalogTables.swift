import Rebuild

/// The tables of `catalog` that are rebuilt, and how they are compared.
enum CatalogTables {
    static let all = [
        RebuiltTable(
            "products",
            key: [.text("id")],
            columns: ["id", "version", "type", "is_on_sale", "product", "changed_by", "changed_at"]
        ),
        RebuiltTable(
            "product_versions",
            key: [.text("product_id"), .number("version")],
            columns: ["product_id", "version", "product", "changed_by", "changed_at"]
        ),
        RebuiltTable(
            "subscription_groups",
            key: [.text("id")],
            columns: ["id", "version", "subscription_group", "changed_by", "changed_at"]
        ),
        RebuiltTable(
            "subscription_group_versions",
            key: [.text("group_id"), .number("version")],
            columns: ["group_id", "version", "subscription_group", "changed_by", "changed_at"]
        ),
    ]
}
