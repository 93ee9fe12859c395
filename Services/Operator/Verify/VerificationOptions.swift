import ArgumentParser
import Foundation
import OperatorCore

/// The options of `replay --verify`.
struct VerificationOptions: ParsableArguments {
    @Option(help: "Rebuild the books of this service only; may be repeated.")
    var service: [StoreOptions.Service] = []

    @Option(help: "The folder of the services' executables (default: the folder of counterfoil).")
    var servicesDirectory: String?

    @Option(
        help: """
            A server for the rebuilt books, with a role that may create databases (or \
            COUNTERFOIL_SHADOW_DATABASE_URL; default \
            postgresql://counterfoil_shadow@127.0.0.1:5432/postgres).
            """
    )
    var shadowDatabaseURL: String?

    @Flag(help: "Keep the databases counterfoil_shadow_<service>, to examine a difference.")
    var keepShadow = false

    /// Rebuilds the books, and shows the progress on standard error.
    func run(_ databases: DatabaseOptions, archives: String?) async throws -> VerificationReport {
        let progress = ProgressLine()
        defer { progress.end() }
        let environment = ProcessInfo.processInfo.environment
        let all = StoreOptions.Service.allCases
        return try await VerificationRunner(
            resources: VerificationRunner.Resources(
                databases: Dictionary(
                    uniqueKeysWithValues: all.map { ($0, databases.address(of: $0)) }
                ),
                shadow: shadowDatabaseURL ?? environment["COUNTERFOIL_SHADOW_DATABASE_URL"]
                    ?? "postgresql://counterfoil_shadow@127.0.0.1:5432/postgres",
                executables: servicesDirectory ?? Self.ownDirectory,
                archives: archives
            ),
            services: service.isEmpty ? all : all.filter(service.contains),
            keepsShadows: keepShadow,
            progress: { services in
                progress.show(services.map(\.text).joined(separator: " · "))
            }
        ).run()
    }

    private static var ownDirectory: String {
        let program =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments.first ?? ""  // No /proc: the name it was started by.
        return URL(fileURLWithPath: program).deletingLastPathComponent().path
    }
}
