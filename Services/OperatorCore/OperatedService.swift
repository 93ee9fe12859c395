package import EventTypes

/// The services that operators look into, in the order of a purchase.
package enum OperatedService: String, CaseIterable, Codable, Sendable {
    case catalog, payments, receipts, fulfillment

    /// The name of the service in events and books.
    package var name: ServiceName {
        switch self {
        case .catalog: .catalog
        case .payments: .payments
        case .receipts: .receipts
        case .fulfillment: .fulfillment
        }
    }

    /// The address of the service on a developer's machine.
    package var defaultURL: String {
        switch self {
        case .catalog: "http://127.0.0.1:8081"
        case .payments: "http://127.0.0.1:8082"
        case .receipts: "http://127.0.0.1:8083"
        case .fulfillment: "http://127.0.0.1:8084"
        }
    }

    /// The variable that holds the address of the service.
    package var urlVariable: String { "COUNTERFOIL_\(rawValue.uppercased())_URL" }

    /// The services that consume events.
    package static let consumers: [OperatedService] = {
        let names = Set(Topics.all.flatMap(\.consumers).map(\.rawValue))
        return allCases.filter { names.contains($0.rawValue) }
    }()
}
