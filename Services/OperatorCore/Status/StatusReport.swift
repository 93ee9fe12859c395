/// The state of the store, service by service.
package struct StatusReport: Encodable, Hashable, Sendable {
    /// One service.
    package struct Entry: Encodable, Hashable, Sendable {
        /// The service.
        package let service: OperatedService
        /// The address of the service.
        package let url: String
        /// `ready`, `not ready` or `away`.
        package var health: String
        /// The dependencies that the service waits for, or the reason why it is away.
        package var detail: String?
        /// The version of the service.
        package var version: String?
        /// The state that its database shows.
        package var database: DatabaseStatus?
        /// The reason why the database could not be read.
        package var databaseProblem: String?
    }

    /// The services, in the order of a purchase.
    package var services: [Entry]

    /// Whether every service is ready and every database answers.
    package var isWell: Bool {
        services.allSatisfy { $0.health == "ready" && $0.databaseProblem == nil }
    }

    /// The problems, one sentence each, with what to do about them.
    package var complaints: [String] {
        services.flatMap { entry -> [String] in
            var lines: [String] = []
            switch entry.health {
            case "ready": break
            case "away": lines.append(entry.detail ?? "\(entry.service.rawValue) is away.")
            default:
                lines.append(
                    "\(entry.service.rawValue) is \(entry.health): \(entry.detail ?? "no reason given")"
                )
            }
            if let problem = entry.databaseProblem { lines.append(problem) }
            if let dead = entry.database?.dead, dead > 0 {
                lines.append(
                    """
                    \(entry.service.rawValue) could not apply \(dead) \(dead == 1 ? "event" : "events"): \
                    see 'counterfoil dead-letters list'.
                    """
                )
            }
            return lines
        }
    }
}
