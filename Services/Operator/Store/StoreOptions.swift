import ArgumentParser
import EventTypes
import Foundation
import OperatorCore

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

    /// The services that commands talk to.
    typealias Service = OperatedService

    /// The connection to a service with a token.
    func connection(to service: Service, token: String?) -> StoreConnection {
        let asked =
            switch service {
            case .catalog: catalogURL
            case .payments: paymentsURL
            case .receipts: receiptsURL
            case .fulfillment: fulfillmentURL
            }
        var url =
            asked ?? ProcessInfo.processInfo.environment[service.urlVariable] ?? service.defaultURL
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

extension OperatedService: ExpressibleByArgument {}
