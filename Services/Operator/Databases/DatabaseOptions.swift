import ArgumentParser
import Foundation

/// The addresses of the services' databases, for the commands that read them.
struct DatabaseOptions: ParsableArguments {
    @Option(help: Self.help(of: .catalog)) var catalogDatabaseURL: String?
    @Option(help: Self.help(of: .payments)) var paymentsDatabaseURL: String?
    @Option(help: Self.help(of: .receipts)) var receiptsDatabaseURL: String?
    @Option(help: Self.help(of: .fulfillment)) var fulfillmentDatabaseURL: String?

    /// The address of a service's database.
    func address(
        of service: StoreOptions.Service,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> DatabaseAddress {
        let asked =
            switch service {
            case .catalog: catalogDatabaseURL
            case .payments: paymentsDatabaseURL
            case .receipts: receiptsDatabaseURL
            case .fulfillment: fulfillmentDatabaseURL
            }
        let variable = Self.variable(of: service)
        return DatabaseAddress(
            service: service,
            url: asked ?? environment[variable] ?? Self.defaultURL(of: service),
            variable: variable
        )
    }

    /// The address of a service's database for the role that may drop months of its log.
    static func archivistAddress(
        of service: StoreOptions.Service,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> DatabaseAddress {
        let variable = "COUNTERFOIL_ARCHIVIST_\(service.rawValue.uppercased())_DATABASE_URL"
        let role = "counterfoil_archivist"
        return DatabaseAddress(
            service: service,
            url: environment[variable]
                ?? "postgresql://\(role)@127.0.0.1:5432/\(service.rawValue)",
            variable: variable,
            role: role
        )
    }

    private static func variable(of service: StoreOptions.Service) -> String {
        "COUNTERFOIL_\(service.rawValue.uppercased())_DATABASE_URL"
    }

    /// The URL has no password: it comes from the variable, PGPASSWORD or ~/.pgpass.
    private static func defaultURL(of service: StoreOptions.Service) -> String {
        "postgresql://counterfoil_operator@127.0.0.1:5432/\(service.rawValue)"
    }

    private static func help(of service: StoreOptions.Service) -> ArgumentHelp {
        ArgumentHelp(
            """
            The database of \(service.rawValue) (or \(variable(of: service)), where others do not see \
            the password; default \(defaultURL(of: service))).
            """
        )
    }
}

/// A service's database, and the variable that sets its address.
struct DatabaseAddress: Hashable, Sendable {
    let service: StoreOptions.Service
    /// The connection URL; it may hold a password, so it is never shown.
    let url: String
    /// The variable that holds the URL.
    let variable: String
    /// The role that should connect.
    var role = "counterfoil_operator"

    /// The URL without anything secret: host, port and database.
    var place: String {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty else {
            return "the address in \(variable)"
        }
        return host + (parts.port.map { ":\($0)" } ?? "") + parts.path
    }
}
