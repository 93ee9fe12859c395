import Foundation
import Postgres
import Rebuild
import Synchronization

/// The proof: the services' own executables rebuild every service's books from the event log, in
/// separate databases, and compare them with the live ones.
package struct VerificationRunner: Sendable {
    /// The databases, executables and files that the proof uses.
    package struct Resources: Sendable {
        /// The live databases, as the operator may read them.
        package var databases: [OperatedService: DatabaseAddress]
        /// A server for the shadows, with a role that may create databases.
        package var shadow: String
        /// The folder of the services' executables.
        package var executables: String
        /// The folder of the months that have left the live databases; `nil` if there is none.
        package var archives: String?

        package init(
            databases: [OperatedService: DatabaseAddress],
            shadow: String,
            executables: String,
            archives: String?
        ) {
            self.databases = databases
            self.shadow = shadow
            self.executables = executables
            self.archives = archives
        }
    }

    package let resources: Resources
    package let services: [OperatedService]
    /// Whether the shadows stay for examination.
    package let keepsShadows: Bool
    /// Receives each service's progress whenever it changes.
    package let progress: @Sendable ([VerificationProgress]) -> Void

    package init(
        resources: Resources,
        services: [OperatedService],
        keepsShadows: Bool = false,
        progress: @escaping @Sendable ([VerificationProgress]) -> Void
    ) {
        self.resources = resources
        self.services = services
        self.keepsShadows = keepsShadows
        self.progress = progress
    }

    /// Rebuilds the books and compares them.
    ///
    /// - Throws: ``OperatorError`` if the proof cannot be completed; then nothing is proved.
    package func run() async throws -> VerificationReport {
        let executables = try executables()
        do {
            return try await withSession(settings) { lock in
                if let holder = try await lock.run({ try ShadowStore.lock(on: $0) }) {
                    throw OperatorError(
                        .failed,
                        "Another proof is under way: \(holder). Wait until it ends, or stop it."
                    )
                }
                return try await lock.keepingLocks { try await prove(executables) }
            }
        } catch let error as PostgresError {
            throw OperatorError(
                error.code == .configuration ? .usage : .unavailable,
                """
                The server for the shadows cannot be used: \(error)
                Set COUNTERFOIL_SHADOW_DATABASE_URL to the role counterfoil_shadow, which may create \
                databases.
                """
            )
        }
    }

    /// Rebuilds the books while holding the lock.
    private func prove(
        _ executables: [OperatedService: String]
    ) async throws -> VerificationReport {
        try await withSession(settings) { server in
            for service in services {
                try await server.run { try ShadowStore.make(Self.shadow(of: service), on: $0) }
            }
            do {
                let report = try await rebuild(executables)
                try await dropShadows(server)
                return report
            } catch {
                // The error that stopped the proof matters more than a database left behind, which
                // the next proof drops.
                try? await dropShadows(server)
                throw error
            }
        }
    }

    private var settings: PostgresSettings {
        PostgresSettings(
            url: resources.shadow,
            applicationName: "counterfoil",
            poolSize: 1,
            statementTimeout: .seconds(120)
        )
    }

    private static func shadow(of service: OperatedService) -> String {
        "counterfoil_shadow_\(service.rawValue)"
    }

    private func executables() throws -> [OperatedService: String] {
        var found: [OperatedService: String] = [:]
        for service in services {
            let path = resources.executables + "/" + service.rawValue
            guard FileManager.default.isExecutableFile(atPath: path) else {
                throw OperatorError(
                    .failed,
                    """
                    There is no \(path). The books of \(service.rawValue) are rebuilt by its own \
                    executable, of the version that runs. Name its folder with --services-directory.
                    """
                )
            }
            found[service] = path
        }
        return found
    }

    private func dropShadows(_ server: PostgresConnection) async throws {
        guard !keepsShadows else { return }
        for service in services {
            try await server.run { try ShadowStore.drop(Self.shadow(of: service), on: $0) }
        }
    }

    private func rebuild(
        _ executables: [OperatedService: String]
    ) async throws -> VerificationReport {
        let state = VerificationState(services.map(\.rawValue))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in services {
                guard let executable = executables[service] else { continue }
                group.addTask {
                    let process = RebuildProcess(
                        executable: executable,
                        environment: environment(of: service)
                    )
                    let ending = try await process.run { line in
                        self.progress(state.take(line, of: service.rawValue))
                    }
                    guard ending.isSuccess else {
                        throw OperatorError(
                            .failed,
                            """
                            The books of \(service.rawValue) could not be rebuilt:
                            \(ending.complaint.trimmingCharacters(in: .whitespacesAndNewlines))
                            """
                        )
                    }
                    guard ending.unreadLines == 0 else {
                        throw OperatorError(
                            .failed,
                            """
                            \(executable) reports its rebuild in a way that this version does not understand; \
                            both must have the same version. Name its folder with --services-directory.
                            """
                        )
                    }
                }
            }
            try await group.waitForAll()
        }
        let report = state.report
        guard report.services.allSatisfy(\.isComplete) else {
            throw OperatorError(.failed, "A rebuild ended without saying what it found.")
        }
        return report
    }

    /// The environment of a service's rebuild: only what it needs from this process.
    private func environment(of service: OperatedService) -> [String: String] {
        var environment = [
            "LOG_LEVEL": "warning",
            "REBUILD_DATABASE_URL": resources.databases[service]?.url ?? "",
            "REBUILD_SHADOW_DATABASE_URL": shadowURL(of: service),
        ]
        if let archives = resources.archives {
            environment["REBUILD_ARCHIVES_DIRECTORY"] = archives
        }
        for (other, address) in resources.databases where other != service {
            environment["REBUILD_\(other.rawValue.uppercased())_DATABASE_URL"] = address.url
        }
        // These tell libpq where passwords and certificates are, and the loader where libraries
        // are.
        for (name, value) in ProcessInfo.processInfo.environment
        where name.hasPrefix("PG") || ["HOME", "PATH", "LD_LIBRARY_PATH"].contains(name) {
            environment[name] = value
        }
        return environment
    }

    private func shadowURL(of service: OperatedService) -> String {
        var components = URLComponents(string: resources.shadow)
        components?.path = "/" + Self.shadow(of: service)
        return components?.string ?? resources.shadow
    }
}

/// The reports of all rebuilds so far.
private final class VerificationState: Sendable {
    private struct State {
        var report: VerificationReport
        var progress: [VerificationProgress]
    }

    private let state: Mutex<State>

    init(_ services: [String]) {
        state = Mutex(
            State(
                report: VerificationReport(services),
                progress: services.map { VerificationProgress(service: $0) }
            )
        )
    }

    var report: VerificationReport { state.withLock { $0.report } }

    /// Takes a line, and returns the progress of all services.
    func take(_ line: RebuildLine, of service: String) -> [VerificationProgress] {
        state.withLock { state in
            state.report.take(line, of: service)
            for index in state.progress.indices where state.progress[index].service == service {
                state.progress[index].take(line)
            }
            return state.progress
        }
    }
}
