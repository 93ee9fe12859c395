import ArgumentParser
import EventTypes
import Foundation

/// The services' addresses, and the form in which the answer is printed.
struct StoreOptions: ParsableArguments {
    @Option(
        help: "The address of catalog (or COUNTERFOIL_CATALOG_URL; default http://127.0.0.1:8081)."
    )
    var catalogURL: String?

    @Option(
        help:
            "The address of payments (or COUNTERFOIL_PAYMENTS_URL; default http://127.0.0.1:8082)."
    )
    var paymentsURL: String?

    @Option(
        help:
            "The address of receipts (or COUNTERFOIL_RECEIPTS_URL; default http://127.0.0.1:8083)."
    )
    var receiptsURL: String?

    @Option(
        help:
            "The address of fulfillment (or COUNTERFOIL_FULFILLMENT_URL; default http://127.0.0.1:8084)."
    )
    var fulfillmentURL: String?

    @OptionGroup var output: OutputOptions

    /// Whether the answer is printed as JSON.
    var json: Bool { output.json }

    /// The services that commands talk to, in the order of a purchase.
    enum Service: String, CaseIterable, Codable, Sendable, ExpressibleByArgument {
        case catalog, payments, receipts, fulfillment

        /// The name of the service in events and books.
        var name: ServiceName {
            switch self {
            case .catalog: .catalog
            case .payments: .payments
            case .receipts: .receipts
            case .fulfillment: .fulfillment
            }
        }

        fileprivate var defaultURL: String {
            switch self {
            case .catalog: "http://127.0.0.1:8081"
            case .payments: "http://127.0.0.1:8082"
            case .receipts: "http://127.0.0.1:8083"
            case .fulfillment: "http://127.0.0.1:8084"
            }
        }
    }

    /// The connection to a service with a token.
    func connection(to service: Service, token: String?) -> StoreConnection {
        let asked =
            switch service {
            case .catalog: catalogURL
            case .payments: paymentsURL
            case .receipts: receiptsURL
            case .fulfillment: fulfillmentURL
            }
        let variable = "COUNTERFOIL_\(service.rawValue.uppercased())_URL"
        var url =
            asked ?? ProcessInfo.processInfo.environment[variable] ?? service.defaultURL
        while url.hasSuffix("/") { url.removeLast() }
        return StoreConnection(service: service.rawValue, baseURL: url, token: token)
    }

    func validate() throws {
        for url in [catalogURL, paymentsURL, receiptsURL, fulfillmentURL].compactMap({ $0 })
        where !url.hasPrefix("http://") && !url.hasPrefix("https://") {
            throw ValidationError("'\(url)' is not an http or https URL.")
        }
    }
}
