import ArgumentParser
import Foundation

/// Where the services are, and in which form the answer is printed.
struct StoreOptions: ParsableArguments {
    @Option(
        help: "Where the catalog is (or COUNTERFOIL_CATALOG_URL; default http://127.0.0.1:8081)."
    )
    var catalogURL: String?

    @Option(
        help: "Where payments is (or COUNTERFOIL_PAYMENTS_URL; default http://127.0.0.1:8082)."
    )
    var paymentsURL: String?

    @Option(
        help:
            "Where fulfillment is (or COUNTERFOIL_FULFILLMENT_URL; default http://127.0.0.1:8084)."
    )
    var fulfillmentURL: String?

    @Flag(help: "Print the answer as JSON.")
    var json = false

    /// The services that commands talk to.
    enum Service: String {
        case catalog, payments, fulfillment

        fileprivate var defaultURL: String {
            switch self {
            case .catalog: "http://127.0.0.1:8081"
            case .payments: "http://127.0.0.1:8082"
            case .fulfillment: "http://127.0.0.1:8084"
            }
        }
    }

    /// The connection to a service with a token.
    func connection(to service: Service, token: String) -> StoreConnection {
        let asked =
            switch service {
            case .catalog: catalogURL
            case .payments: paymentsURL
            case .fulfillment: fulfillmentURL
            }
        let variable = "COUNTERFOIL_\(service.rawValue.uppercased())_URL"
        var url =
            asked ?? ProcessInfo.processInfo.environment[variable] ?? service.defaultURL
        while url.hasSuffix("/") { url.removeLast() }
        return StoreConnection(service: service.rawValue, baseURL: url, token: token)
    }

    func validate() throws {
        for url in [catalogURL, paymentsURL, fulfillmentURL].compactMap({ $0 })
        where !url.hasPrefix("http://") && !url.hasPrefix("https://") {
            throw ValidationError("'\(url)' is no http or https URL.")
        }
    }
}
