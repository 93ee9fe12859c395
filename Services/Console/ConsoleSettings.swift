import EventTypes
import Foundation
import Kafka
import OperatorCore
import ServiceKit
import Subscriptions

/// The settings of the console.
///
/// | key | default | meaning |
/// | --- | --- | --- |
/// | `HTTP_HOST`, `HTTP_PORT`, … | `127.0.0.1`, 8086 | where the pages are served |
/// | `ADMIN_KEYS_DIRECTORY` | required | the keys whose tokens are accepted |
/// | `CONSOLE_ORIGIN` | `http://127.0.0.1:8086` | the address that browsers show |
/// | `CONSOLE_READ_ONLY` | `true` | whether nobody may act here |
/// | `CONSOLE_STATE_DIRECTORY` | none | where sessions and jobs are kept over a restart |
/// | `KAFKA_BOOTSTRAP_SERVERS`, `KAFKA_PROPERTIES` | none | the broker, for replays |
/// | `COUNTERFOIL_SHADOW_DATABASE_URL` | none | a server for the rebuilt books, for proofs |
/// | `COUNTERFOIL_SERVICES_DIRECTORY` | that of `console` | the executables that rebuild books |
/// | `COUNTERFOIL_ARCHIVES_DIRECTORY` | none | the months that have left the databases |
/// | `SUBSCRIPTION_TIME_ZONE` | `Etc/UTC` | that of `payments`, for reconciliations |
/// | `SANDBOX_SUBSCRIPTION_RATE` | `realTime` | that of `payments`, for reconciliations |
/// | `COUNTERFOIL_…_URL` | as on a developer's machine | the services |
/// | `COUNTERFOIL_…_DATABASE_URL` | as on a developer's machine | their databases, as a role that reads |
/// | `CONSOLE_DECIDING_…_DATABASE_URL` | those that are read | as the operator's role, for dead letters |
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
    /// The addresses by which people decide about dead letters.
    let deciding: DatabaseAddresses
    /// The folder for what outlives a restart; `nil` if everything is in memory.
    let stateDirectory: String?
    /// The means of long work.
    let tools: JobTools

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
        stateDirectory = Self.optional(
            reader.string(
                "CONSOLE_STATE_DIRECTORY",
                default: "",
                "The folder for sessions and jobs; without it, a restart signs everybody out."
            )
        )
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
                "The database of \(service.rawValue), as counterfoil_reader, which may only read."
            )
        }
        var deciding = databases
        for service in OperatedService.consumers {
            let url = reader.secret(
                "CONSOLE_DECIDING_\(service.rawValue.uppercased())_DATABASE_URL",
                default: "",
                "The same as counterfoil_operator, for decisions about dead letters."
            )
            if !url.isEmpty { deciding[service] = url }
        }
        self.urls = urls
        self.databases = DatabaseAddresses(urls: databases, [:])
        self.deciding = DatabaseAddresses(urls: deciding, [:])
        tools = Self.tools(&reader, self.databases)
    }

    /// The means of replays and proofs, as far as they are set.
    private static func tools(
        _ reader: inout SettingsReader,
        _ databases: DatabaseAddresses
    ) -> JobTools {
        let broker = reader.string(
            "KAFKA_BOOTSTRAP_SERVERS",
            default: "",
            "The broker, host:port,…, for replays; without it, there are none here."
        )
        let properties = reader.secretList(
            "KAFKA_PROPERTIES",
            "Further properties of librdkafka: name=value,name=value."
        )
        let shadow = reader.secret(
            "COUNTERFOIL_SHADOW_DATABASE_URL",
            default: "",
            "A server for rebuilt books, as counterfoil_shadow; without it, there are no proofs here."
        )
        let executables = reader.string(
            "COUNTERFOIL_SERVICES_DIRECTORY",
            default: "",
            "The folder of the services' executables, for proofs; by default that of console."
        )
        let archives = reader.string(
            "COUNTERFOIL_ARCHIVES_DIRECTORY",
            default: "",
            "The folder of the months that 'counterfoil log' has archived."
        )
        return JobTools(
            databases: databases,
            kafka: optional(broker).map {
                KafkaSettings(bootstrapServers: $0, clientID: "console", properties: properties)
            },
            archives: optional(archives),
            shadow: optional(shadow),
            executables: optional(executables) ?? ownDirectory,
            subscriptions: subscriptions(&reader)
        )
    }

    /// The decisions of `payments` about subscriptions, as far as a reconciliation has to know them.
    private static func subscriptions(_ reader: inout SettingsReader) -> SubscriptionPolicy {
        let zone = reader.string(
            "SUBSCRIPTION_TIME_ZONE",
            default: "Etc/UTC",
            "The time zone of subscriptions, for reconciliations: that of payments."
        )
        let timeZone = TimeZone(identifier: zone)
        if timeZone == nil {
            reader.refuse("SUBSCRIPTION_TIME_ZONE", "is not a time zone such as Europe/Berlin")
        }
        var policy = SubscriptionPolicy(calendar: PeriodCalendar(timeZone: timeZone ?? .gmt))
        policy.rate = reader.choice(
            "SANDBOX_SUBSCRIPTION_RATE",
            default: .realTime,
            "How fast a sandbox's subscriptions renew, for reconciliations: that of payments."
        )
        return policy
    }

    private static func optional(_ text: String) -> String? { text.isEmpty ? nil : text }

    /// The folder of this program.
    private static var ownDirectory: String {
        let program =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments.first ?? ""  // No /proc: the name it was started by.
        return URL(fileURLWithPath: program).deletingLastPathComponent().path
    }
}
