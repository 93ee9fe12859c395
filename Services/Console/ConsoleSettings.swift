import OperatorCore
import ServiceKit

/// The settings of the console.
///
/// | key | default | meaning |
/// | --- | --- | --- |
/// | `HTTP_HOST`, `HTTP_PORT`, … | `127.0.0.1`, 8086 | where the pages are served |
/// | `ADMIN_KEYS_DIRECTORY` | required | the keys whose tokens are accepted |
/// | `CONSOLE_ORIGIN` | `http://127.0.0.1:8086` | the address that browsers show |
/// | `CONSOLE_READ_ONLY` | `true` | whether nobody may act here |
/// | `COUNTERFOIL_…_URL` | as on a developer's machine | the services |
/// | `COUNTERFOIL_…_DATABASE_URL` | as on a developer's machine | their databases, as the operator's role |
struct ConsoleSettings: Sendable {
    /// The choice of `CONSOLE_READ_ONLY`.
    private enum Choice: String, CaseIterable {
        case yes = "true"
        case no = "false"
    }

    let http: HTTPSettings
    /// The directory of the administrators' public keys.
    let adminKeysDirectory: String
    /// The address that browsers show.
    let origin: ConsoleOrigin
    /// Whether nobody may act here, whatever their scopes.
    let isReadOnly: Bool
    /// The addresses of the services.
    let urls: [OperatedService: String]
    /// The addresses of their databases.
    let databases: DatabaseAddresses

    init(_ reader: inout SettingsReader) {
        http = HTTPSettings(&reader, defaultPort: 8086)
        adminKeysDirectory = reader.string(
            "ADMIN_KEYS_DIRECTORY",
            "Public keys of the administrators: <name>.pem, and <name>.json with their scopes."
        )
        let text = reader.string(
            "CONSOLE_ORIGIN",
            default: ConsoleOrigin.usual.text,
            "The address that browsers show: https://host or http://127.0.0.1:8086."
        )
        origin = ConsoleOrigin(text) ?? .usual
        if ConsoleOrigin(text) == nil {
            reader.refuse("CONSOLE_ORIGIN", "must be http or https, a host, and nothing after it")
        } else if origin.isUnprotected {
            reader.refuse("CONSOLE_ORIGIN", "must be https, unless the host is this machine itself")
        }
        let choice: Choice = reader.choice(
            "CONSOLE_READ_ONLY",
            default: .yes,
            "Whether nobody may act here; false lets those act whose keys have the scope."
        )
        isReadOnly = choice == .yes
        var urls: [OperatedService: String] = [:]
        var databases: [OperatedService: String] = [:]
        for service in OperatedService.allCases {
            var url = reader.string(
                service.urlVariable,
                default: service.defaultURL,
                "The address of \(service.rawValue)."
            )
            while url.hasSuffix("/") { url.removeLast() }
            urls[service] = url
        }
        for service in OperatedService.allCases {
            databases[service] = reader.secret(
                DatabaseAddresses.variable(of: service),
                default: DatabaseAddresses.defaultURL(of: service),
                "The database of \(service.rawValue), as the role counterfoil_operator."
            )
        }
        self.urls = urls
        self.databases = DatabaseAddresses(urls: databases, [:])
    }
}
