import ArgumentParser
import Foundation
import Synchronization

/// What `replay --verify` asks.
struct VerificationOptions: ParsableArguments {
    @Option(help: "Only the books of this service (may be repeated).")
    var service: [StoreOptions.Service] = []

    @Option(help: "The folder of the services' executables (default: that of counterfoil itself).")
    var servicesDirectory: String?

    @Option(
        help: """
            A server for the books made again, as a role that may make databases (or \
            COUNTERFOIL_SHADOW_DATABASE_URL; default \
            postgresql://counterfoil_shadow@127.0.0.1:5432/postgres).
            """
    )
    var shadowDatabaseURL: String?

    @Flag(help: "Leave the databases counterfoil_shadow_<service>, to look at a difference.")
    var keepShadow = false

    /// Makes the books again, with progress on standard error.
    func run(
        _ databases: DatabaseOptions,
        _ output: OutputOptions
    ) async throws -> VerificationReport {
        let progress = ProgressLine(isTerminal: isatty(STDERR_FILENO) == 1)
        defer { progress.end() }
        let environment = ProcessInfo.processInfo.environment
        let all = StoreOptions.Service.allCases
        return try await LedgerVerificationRunner(
            places: LedgerVerificationRunner.Places(
                databases: Dictionary(
                    uniqueKeysWithValues: all.map { ($0, databases.address(of: $0)) }
                ),
                shadow: shadowDatabaseURL ?? environment["COUNTERFOIL_SHADOW_DATABASE_URL"]
                    ?? "postgresql://counterfoil_shadow@127.0.0.1:5432/postgres",
                executables: servicesDirectory ?? Self.ownDirectory
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

/// A line on standard error that is written over on a terminal, and now and then a new one elsewhere.
final class ProgressLine: Sendable {
    private let isTerminal: Bool
    private let shown = Mutex<(at: ContinuousClock.Instant, wasShown: Bool)>(
        (.now - .seconds(60), false)
    )

    init(isTerminal: Bool) { self.isTerminal = isTerminal }

    /// Shows how far it is, unless something was shown a moment ago.
    func show(_ text: String) {
        let pause: Duration = isTerminal ? .milliseconds(100) : .seconds(5)
        let isDue = shown.withLock { shown in
            guard .now - shown.at >= pause else { return false }
            shown = (.now, true)
            return true
        }
        guard isDue else { return }
        write(isTerminal ? "\r\u{1B}[2K\(text)" : text + "\n")
    }

    /// Leaves the line.
    func end() {
        guard isTerminal, shown.withLock({ $0.wasShown }) else { return }
        write("\r\u{1B}[2K")
    }

    private func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
