import EventTypes
import StoreAPI

/// Reads the document of an import, and collects all problems of its products and groups.
///
/// Pure: no I/O, no clock, no id.
enum CatalogDocumentReader {
    /// The maximum number of products in a document, and of subscription groups.
    static let productCountMax = 20_000

    /// The content of a document, in the order of the ids; empty if there are problems.
    struct Content: Sendable {
        var products: [(id: ProductID, draft: ProductDraft)] = []
        var groups: [GroupRules.Edit] = []
        var problems: [ProductProblem] = []
    }

    /// Reads a document.
    ///
    /// - Returns: The products and groups in the order of their ids, or the problems if there are
    ///   any.
    static func read(_ json: JSONValue) -> Content {
        guard case .object(let members) = json else {
            return Content(problems: [problem("", "The document is \(json.kind), not an object")])
        }
        let known: Set = ["products", "subscriptionGroups"]
        var content = Content()
        content.problems = members.keys.sorted().filter { !known.contains($0) }.map {
            problem(ProductProblem.shortened($0), "is not a field of a catalog")
        }
        if members["products"] == nil { content.problems.append(problem("products", "is missing")) }
        for (id, entry) in entries(members["products"], "products", &content) {
            let read = ProductDraftReader.read(entry, id: id)
            content.problems += read.problems
            if let product = read.product { content.products.append(product) }
        }
        let groups = members["subscriptionGroups"]
        for (id, entry) in entries(groups == .null ? nil : groups, "subscriptionGroups", &content) {
            let read = GroupDraftReader.read(entry, id: id)
            content.problems += read.problems
            if let (id, draft) = read.group {
                content.groups.append(GroupRules.Edit(id: id, draft: draft))
            }
        }
        return content.problems.isEmpty ? content : Content(problems: content.problems)
    }

    /// The members of an object of the document in the order of their names; a missing one has none.
    private static func entries(
        _ json: JSONValue?,
        _ field: String,
        _ content: inout Content
    ) -> [(key: String, value: JSONValue)] {
        guard let json else { return [] }
        guard case .object(let entries) = json else {
            content.problems.append(problem(field, "is \(json.kind), not an object"))
            return []
        }
        guard entries.count <= productCountMax else {
            content.problems.append(problem(field, "holds more than \(productCountMax)"))
            return []
        }
        return entries.sorted { $0.key < $1.key }
    }

    private static func problem(_ field: String, _ text: String) -> ProductProblem {
        ProductProblem(productID: "", field: field, problem: text)
    }
}
