/// The addresses of the services' databases.
///
/// A database that is not named is where its variable says, or where `make run` has it.
package struct DatabaseAddresses: Hashable, Sendable {
    private let addresses: [OperatedService: DatabaseAddress]

    /// Makes the addresses.
    ///
    /// - Parameters:
    ///   - urls: The connection URLs that are named.
    ///   - environment: The variables, for those that are not.
    package init(urls: [OperatedService: String] = [:], _ environment: [String: String]) {
        let all = OperatedService.allCases.map { service in
            let variable = Self.variable(of: service)
            let url = urls[service] ?? environment[variable] ?? Self.defaultURL(of: service)
            return (service, DatabaseAddress(service: service, url: url, variable: variable))
        }
        addresses = Dictionary(uniqueKeysWithValues: all)
    }

    /// The address of a service's database.
    package func address(of service: OperatedService) -> DatabaseAddress {
        addresses[service]
            ?? DatabaseAddress(
                service: service,
                url: Self.defaultURL(of: service),
                variable: Self.variable(of: service)
            )
    }

    /// The address of the database of a service that events and topics name.
    package func address(named name: String) -> DatabaseAddress {
        // Services and databases have the same names; a topic's producer is one of them.
        address(of: OperatedService(rawValue: name) ?? .payments)
    }

    /// The address of a service's database for the role that may drop months of its log.
    package static func archivistAddress(
        of service: OperatedService,
        _ environment: [String: String]
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

    /// The variable that holds the connection URL of a service's database.
    package static func variable(of service: OperatedService) -> String {
        "COUNTERFOIL_\(service.rawValue.uppercased())_DATABASE_URL"
    }

    /// The URL has no password: it comes from the variable, PGPASSWORD or ~/.pgpass.
    package static func defaultURL(of service: OperatedService) -> String {
        "postgresql://counterfoil_operator@127.0.0.1:5432/\(service.rawValue)"
    }
}
