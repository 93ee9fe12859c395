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
