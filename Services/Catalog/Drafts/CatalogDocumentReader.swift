import EventTypes
import StoreAPI

/// Reads the document of an import, and collects all problems of its products.
///
/// Pure: no I/O, no clock, no id.
enum CatalogDocumentReader {
    /// The maximum number of products in a document.
    static let productCountMax = 20_000

    /// Reads a document.
    ///
    /// - Returns: The products in the order of their ids, or the problems if there are any.
    static func read(
        _ json: JSONValue
    ) -> (products: [(id: ProductID, draft: ProductDraft)], problems: [ProductProblem]) {
        guard case .object(let members) = json else {
            return ([], [problem("", "The document is \(json.kind), not an object")])
        }
        var problems = members.keys.sorted().filter { $0 != "products" }.map {
            problem(ProductProblem.shortened($0), "is no field of a catalog")
        }
        guard let list = members["products"] else {
            return ([], problems + [problem("products", "is missing")])
        }
        guard case .object(let entries) = list else {
            return ([], problems + [problem("products", "is \(list.kind), not an object")])
        }
        guard entries.count <= productCountMax else {
            return ([], problems + [problem("products", "holds more than \(productCountMax)")])
        }
        var products: [(id: ProductID, draft: ProductDraft)] = []
        products.reserveCapacity(entries.count)
        for (id, entry) in entries.sorted(by: { $0.key < $1.key }) {
            let read = ProductDraftReader.read(entry, id: id)
            problems += read.problems
            if let product = read.product { products.append(product) }
        }
        return (problems.isEmpty ? products : [], problems)
    }

    private static func problem(_ field: String, _ text: String) -> ProductProblem {
        ProductProblem(productID: "", field: field, problem: text)
    }
}
