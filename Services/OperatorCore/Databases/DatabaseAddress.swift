import Foundation

/// A service's database, and the variable that sets its address.
package struct DatabaseAddress: Hashable, Sendable {
    /// The service.
    package let service: OperatedService
    /// The connection URL; it may hold a password, so it is never shown.
    package let url: String
    /// The variable that holds the URL.
    package let variable: String
    /// The role that should connect.
    package var role = "counterfoil_operator"

    /// The URL without anything secret: host, port and database.
    package var place: String {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty else {
            return "the address in \(variable)"
        }
        return host + (parts.port.map { ":\($0)" } ?? "") + parts.path
    }
}
