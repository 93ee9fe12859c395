import ArgumentParser
import EventTypes
import Foundation
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil products`: the catalog.
struct ProductsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "products",
        abstract: "Imports, exports and lists the catalog, and changes prices.",
        discussion: """
            Examples:
              counterfoil products import deploy/sample/catalog.json
              counterfoil products import Store.storekit
              counterfoil products export > catalog.json
              counterfoil products export --storekit Store.storekit
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
        discussion: """
            Products and groups that the file does not name stay as they are.

            A file whose name ends in .storekit is Xcode's StoreKit configuration. Each line of the \
            report says what was imported, changed, or left out, and why. Prices in other \
            storefronts, delivery plans and whether a product is on sale stay as they are. If a \
            product cannot be understood, or if somebody else changes the catalog at the same \
            moment, nothing is imported (exit code 1).

            Examples:
              counterfoil products import catalog.json
              counterfoil products import Store.storekit --storefront DEU

            JSON: the numbers of created, changed and unchanged products and named groups; for a StoreKit file also \
            the lines of the report
            """
    )

    @OptionGroup var catalog: CatalogOptions

    @Argument(
        help: "The catalog as JSON, a StoreKit file, or - for standard input.",
        completion: .file(extensions: ["json", "storekit"])
    )
    var file: String

    @Option(
        help: "The storefront of a StoreKit file's prices; otherwise the one in the file, or USA.",
        transform: identifier
    )
    var storefront: Storefront?

    @Option(
        help: "The currency of a StoreKit file's prices; otherwise the storefront's.",
        transform: identifier
    )
    var currency: Currency?

    func validate() throws {
        guard file.hasSuffix(".storekit") || (storefront == nil && currency == nil) else {
            throw ValidationError("--storefront and --currency are for StoreKit files only.")
        }
    }

    func perform() async throws {
        let contents = try contents()
        let connection = try await catalog.connection()
        guard file.hasSuffix(".storekit") else {
            let result = try await send(contents, to: connection)
            if catalog.store.json {
                try Console.say(json: result)
            } else {
                Console.say(Self.sentence(result))
            }
            return
        }
        let content = try StoreKitReader.read(contents, storefront: storefront, currency: currency)
        guard content.isUsable else {
            let lines = content.notes.filter { $0.outcome == .wrong }.map(\.description)
            throw OperatorError(
                .failed,
                "nothing was imported from \(file):\n" + lines.joined(separator: "\n")
            )
        }
        let (current, tag) = try await connection.read(
            Routes.adminCatalog,
            as: CatalogDocument.self
        )
        let document = StoreKitMerge.document(content, onto: current)
        let result = try await send(
            try JSONEncoder().encode(document),
            headers: [("If-Match", tag)],
            to: connection
        )
        if catalog.store.json {
            try Console.say(json: StoreKitReport(result, content.notes))
        } else {
            for note in content.notes { Console.say(note.description) }
            Console.say(Self.sentence(result))
        }
    }

    private func send(
        _ document: Data,
        headers: [(name: String, value: String)] = [],
        to connection: StoreConnection
    ) async throws -> CatalogImportResult {
        try await connection.send(
            .PUT,
            Routes.adminCatalog,
            StoreConnection.Content(headers: headers, body: document),
            as: CatalogImportResult.self
        )
    }

    private static func sentence(_ result: CatalogImportResult) -> String {
        "\(result.created) created, \(result.changed) changed, \(result.unchanged) unchanged."
    }

    private func contents() throws(OperatorError) -> Data {
        if file == "-" { return FileHandle.standardInput.readDataToEndOfFile() }
        do {
            return try Data(contentsOf: URL(fileURLWithPath: file))
        } catch {
            throw OperatorError.unreadable(file, error)
        }
    }
}

/// `counterfoil products export`.
struct ExportProductsCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Prints the whole catalog as JSON, ready to be imported.",
        discussion: """
            With --storekit it writes Xcode's StoreKit configuration instead: the products on sale in \
            one storefront. It says which products it leaves out, and why.
            """
    )

    @OptionGroup var catalog: CatalogOptions

    @Option(
        name: .customLong("storekit"),
        help: "The StoreKit configuration file to write.",
        completion: .file(extensions: ["storekit"])
    )
    var storeKit: String?

    @Option(help: "The storefront of the StoreKit file.", transform: identifier)
    var storefront = Storefront(unchecked: "USA")

    func perform() async throws {
        let document = try await catalog.connection().send(.GET, Routes.adminCatalog)
        guard let storeKit else { return Console.say(try Self.pretty(document)) }
        let products: CatalogDocument
        do {
            products = try JSONDecoder().decode(CatalogDocument.self, from: document)
        } catch {
            throw OperatorError.strangeAnswer("a catalog")
        }
        let (file, notes) = try StoreKitWriter.write(products, in: storefront)
        do {
            try file.write(to: URL(fileURLWithPath: storeKit), options: .atomic)
        } catch {
            throw OperatorError.unwritable(storeKit, error)
        }
        if catalog.store.json {
            try Console.say(json: notes.map(\.description))
        } else {
            for note in notes { Console.say(note.description) }
            let count = products.products.count - notes.count
            Console.say("\(count) product\(count == 1 ? "" : "s") in \(storeKit).")
        }
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
            throw OperatorError.strangeAnswer("JSON")
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
        return [["PRODUCT", "TYPE", "ON SALE", "PRICES", "SUBSCRIPTION"]]
            + products.map { id, product in
                [
                    id.rawValue,
                    product.type.rawValue,
                    product.isOnSale == false ? "no" : "yes",
                    product.prices.sorted { $0.key < $1.key }
                        .map { words($1, in: $0, of: product) }.joined(separator: ", "),
                    product.subscription.map { "\($0.groupID) level \($0.level), \($0.period)" }
                        ?? "",
                ]
            }
    }

    /// A price in a storefront, with the change that is scheduled or has happened there.
    private static func words(
        _ price: Money,
        in storefront: Storefront,
        of product: ProductDraft
    ) -> String {
        guard let change = product.priceChanges?[storefront] else {
            return "\(storefront) \(price)"
        }
        return "\(storefront) \(price) (\(change.price) from \(change.from))"
    }
}
