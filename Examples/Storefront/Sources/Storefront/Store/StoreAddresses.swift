import ArgumentParser

/// The addresses of the store's services, as options of the command line.
struct StoreAddresses: ParsableArguments, Sendable {
    @Option(help: "The catalog's address.")
    var catalog = "http://127.0.0.1:8081"
    @Option(help: "The address of payments.")
    var payments = "http://127.0.0.1:8082"
    @Option(help: "The address of receipts.")
    var receipts = "http://127.0.0.1:8083"
    @Option(help: "The address of fulfillment.")
    var fulfillment = "http://127.0.0.1:8084"
    @Option(help: "One address for all of them, as behind nginx.")
    var origin: String?
    @Option(help: "The store's address for buyers' browsers, if they need another one.")
    var buyersOrigin: String?

    /// The address at which a buyer's browser finds the store's own page for codes.
    var codePageOrigin: String { buyersOrigin ?? self[.payments] }

    /// The address of a service, without a slash at its end.
    subscript(service: StoreService) -> String {
        if let origin { return origin }
        return switch service {
        case .catalog: catalog
        case .payments: payments
        case .receipts: receipts
        case .fulfillment: fulfillment
        }
    }
}
