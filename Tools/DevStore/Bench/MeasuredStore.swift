import ArgumentParser
import StoreHarness

/// The options and the run of a measured store, which `bench`, `clients` and `signing` share.
///
/// Its services use the intervals of a deployment and its database waits for the disk, so that the
/// numbers are those of a real store.
struct MeasuredStore: ParsableArguments, Sendable {
    @Option(help: "How many partitions each topic has; 2 suffice for one instance of each service.")
    var partitions = 2

    @Option(help: "The services' log level.")
    var logLevel = "warning"

    @Option(
        name: .customLong("postgres"),
        help: "A setting of PostgreSQL to measure with, such as wal_compression=lz4; repeatable."
    )
    var postgresSettings: [String] = []

    @Option(
        name: .customLong("environment"),
        help: "A variable in the environment of all services, such as NAME=value; repeatable."
    )
    var environment: [String] = []

    func validate() throws {
        guard (postgresSettings + environment).allSatisfy({ $0.contains("=") }) else {
            throw ValidationError("--postgres and --environment take NAME=value.")
        }
        guard partitions > 0 else { throw ValidationError("--partitions must be positive.") }
    }

    /// Starts a new store, with the sample catalog unless it says otherwise, measures it, and stops it.
    ///
    /// - Parameters:
    ///   - title: The title of the measurement.
    ///   - target: The target of `make` that measures a release build.
    ///   - settings: Settings of one service, over its own.
    ///   - hasSampleCatalog: Whether the store sells the sample catalog.
    ///   - measure: Measures, and returns whether the result is good enough; a ``HarnessError``
    ///     says that something is broken, and the state of the store is shown with it.
    /// - Throws: `ExitCode`, after the reason was printed.
    func measure(
        _ title: String,
        target: String,
        settings: [StoreService: [String: String]] = [:],
        hasSampleCatalog: Bool = true,
        _ measure: @escaping @Sendable (Terminal, StoreHarness) async throws -> Bool
    ) async throws {
        let terminal = Terminal()
        terminal.heading(title)
        #if DEBUG
        terminal.line("  A debug build: its numbers say little. Use `make \(target)`.", .yellow)
        #endif
        var options = options(terminal)
        options.settings = settings
        for variable in environment {
            let parts = variable.split(separator: "=", maxSplits: 1).map(String.init)
            for service in StoreService.allCases where parts.count == 2 {
                options.settings[service, default: [:]][parts[0]] = parts[1]
            }
        }
        try await terminal.perform { [options] in
            let isGood = try await withStore(options) { store in
                if hasSampleCatalog { try await terminal.importSampleCatalog(into: store) }
                return try await measure(terminal, store)
            }
            guard isGood else { throw ExitCode(1) }
        }
    }

    private func options(_ terminal: Terminal) -> StoreOptions {
        var options = StoreOptions()
        options.processor = .sandbox
        options.database = .own
        options.fsync = true
        options.postgresSettings = [
            // Commit times say when the books had a change that clients learn of later.
            "track_commit_timestamp=on",
            // A server that has run for hours recycles the files of its write-ahead log. A fresh
            // one would pause to fill each new file with zeros.
            "wal_init_zero=off",
        ]
        options.postgresSettings += postgresSettings
        options.logLevel = logLevel
        options.isImpatient = false
        options.partitions = partitions
        options.progress = terminal.progress
        return options
    }
}
