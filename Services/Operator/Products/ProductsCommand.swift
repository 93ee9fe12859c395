import ArgumentParser
import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI

/// `counterfoil products`: the catalog.
struct ProductsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "products",
        abstract: "Imports, exports and lists the catalog, and changes prices.",
        discussion: """
            Examples:
              counterfoil products import deploy/sample/catalog.json
              counterfoil products export > catalog.json
              counterfoil products list
              counterfoil products price com.example.pro USA 11.99
            """,
        subcommands: [
            ImportProductsCommand.self, ExportProductsCommand.self, ListProductsCommand.self,
            PriceProductCommand.self,
        ]
    )
}

/// `counterfoil products import`.
struct ImportProductsCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Creates and changes the products in a file, all of them or none.",
        discussion: "Products that the file does not name stay as they are."
    )

    @OptionGroup var catalog: CatalogOptions

    @Argument(
        help: "The catalog as JSON, or - for standard input.",
        completion: .file(extensions: ["json"])
    )
    var file: String

    func perform() async throws {
        let result = try await catalog.connection().send(
            .PUT,
            Routes.adminCatalog,
            StoreConnection.Content(body: try contents()),
            as: CatalogImportResult.self
        )
        if catalog.store.json {
            try Console.say(json: result)
        } else {
            Console.say(
                "\(result.created) created, \(result.changed) changed, "
                    + "\(result.unchanged) unchanged."
            )
        }
    }

    private func contents() throws(OperatorError) -> Data {
        if file == "-" { return FileHandle.standardInput.readDataToEndOfFile() }
        do {
            return try Data(contentsOf: URL(fileURLWithPath: file))
        } catch {
            throw OperatorError(.failed, "\(file) cannot be read.")
        }
    }
}

/// `counterfoil products export`.
struct ExportProductsCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Prints the whole catalog as JSON, ready to be imported."
    )

    @OptionGroup var catalog: CatalogOptions

    func perform() async throws {
        let document = try await catalog.connection().send(.GET, Routes.adminCatalog)
        Console.say(try Self.pretty(document))
    }

    /// JSON with one member per line.
    ///
    /// Fields that this version does not know are preserved.
    static func pretty(_ document: Data) throws(OperatorError) -> String {
        do {
            let data = try JSONSerialization.data(
                withJSONObject: try JSONSerialization.jsonObject(with: document),
                options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            )
            return String(decoding: data, as: UTF8.self)
        } catch {
            throw OperatorError(.failed, "catalog sent an answer that is not JSON.")
        }
    }
}

/// `counterfoil products list`.
struct ListProductsCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists all products, whether or not they are on sale."
    )

    @OptionGroup var catalog: CatalogOptions

    func perform() async throws {
        let document = try await catalog.connection().send(
            .GET,
            Routes.adminCatalog,
            as: CatalogDocument.self
        )
        if catalog.store.json {
            try Console.say(json: document)
            return
        }
        guard !document.products.isEmpty else {
            Console.say("The catalog is empty. Fill it with 'counterfoil products import FILE'.")
            return
        }
        Console.say(catalog.store.output.palette.table(Self.rows(of: document)))
    }

    static func rows(of document: CatalogDocument) -> [[String]] {
        let products = document.products.sorted { $0.key < $1.key }
        return [["PRODUCT", "TYPE", "ON SALE", "PRICES"]]
            + products.map { id, product in
                [
                    id.rawValue,
                    product.type.rawValue,
                    product.isOnSale == false ? "no" : "yes",
                    product.prices.sorted { $0.key < $1.key }
                        .map { "\($0.key) \($0.value)" }.joined(separator: ", "),
                ]
            }
    }
}
