import Foundation
public import Logging
import Metrics
import ServiceLifecycle
import UnixSignals

/// Runs a service's command line: the whole of its `main`.
///
/// `serve` (the default) composes the service and runs it until SIGTERM or SIGINT. `migrate` brings
/// its database up to date. `rebuild` rebuilds its tables from the event log and compares them.
/// `settings` lists every key. The process exits with 0, 64 (usage), 78 (configuration: all
/// problems are reported at once) or 1. A second signal ends it at once.
///
/// - Parameters:
///   - name: The service's name.
///   - compose: Reads the settings and makes the parts. It may read files that settings name, and
///     opens no connection.
///   - migrate: Reads the settings of `migrate` and returns its work; `nil` without a database.
///   - rebuild: Reads the settings of `rebuild` and returns its work; `nil` without a database.
///   - further: Further commands of this service.
public func runService(
    _ name: String,
    compose: @Sendable (inout SettingsReader, Logger) throws -> Composition,
    migrate: ServiceWork? = nil,
    rebuild: ServiceWork? = nil,
    further: [ServiceCommand] = []
) async -> Never {
    AllocatorLimits(
        processors: ProcessInfo.processInfo.activeProcessorCount,
        environment: ProcessInfo.processInfo.environment
    ).apply()
    // A closed log pipe or client connection becomes an error of the write, and does not end the
    // process.
    signal(SIGPIPE, SIG_IGN)
    let descriptors = DescriptorLimit.raise()
    let runner = ServiceRunner(
        name: name,
        environment: ProcessInfo.processInfo.environment,
        descriptors: descriptors,
        further: further,
        bootstrap: { makeLog in
            LoggingSystem.bootstrap(makeLog)
            MetricsSystem.bootstrap(PrometheusMetrics.shared)
        }
    )
    let status = await runner.run(
        arguments: Array(CommandLine.arguments.dropFirst()),
        compose: compose,
        migrate: migrate,
        rebuild: rebuild
    )
    exit(status.rawValue)
}

/// The exit status of a service's process.
enum ProcessStatus: Int32 {
    case success = 0
    case failure = 1
    case usage = 64
    case configuration = 78
}

/// The commands of a service, separate from the process in which they run.
struct ServiceRunner {
    typealias MakeLog = @Sendable (String) -> any LogHandler

    let name: String
    let environment: [String: String]
    /// The number of descriptors that the process may open, if it is known.
    var descriptors: DescriptorLimit?
    var further: [ServiceCommand] = []
    var bootstrap: (@escaping MakeLog) -> Void = { _ in }
    var writeOutput: (String) -> Void = { writeAll($0, to: STDOUT_FILENO) }
    var writeLog: @Sendable (String) -> Void = { writeAll($0, to: STDERR_FILENO) }
    var trapsSignals = true
    /// The longest time a shutdown may take before the process ends anyway.
    var shutdownMax: Duration = .seconds(20)

    func run(
        arguments: [String],
        compose: @Sendable (inout SettingsReader, Logger) throws -> Composition,
        migrate: ServiceWork?,
        rebuild: ServiceWork?
    ) async -> ProcessStatus {
        switch arguments {
        case [], ["serve"]:
            return await serve(compose)
        case ["migrate"] where migrate != nil:
            return await carryOut("migration", migrate)
        case ["rebuild"] where rebuild != nil:
            return await carryOut("rebuild", rebuild)
        case ["settings"]:
            writeOutput(describe(compose, [migrate, rebuild].compactMap(\.self)))
            return .success
        case ["--help"], ["-h"], ["help"]:
            let help = ServiceHelp.text(of: name, hasBooks: migrate != nil, further: further)
            writeOutput(help)
            return .success
        case ["--version"]:
            writeOutput("\(name) \(ServiceHelp.version)\n")
            return .success
        default:
            if arguments.count == 1,
                let command = further.first(where: { $0.name == arguments[0] })
            {
                return await perform(command.name) { reader, logger in
                    let work = try command.prepare(&reader, logger)
                    return { try work() }
                }
            }
            let given = shortened(arguments.joined(separator: " "))
            writeLog("\(name): unknown command: \(given)\nTry: \(name) --help\n")
            return .usage
        }
    }

    private func serve(
        _ compose: @Sendable (inout SettingsReader, Logger) throws -> Composition
    ) async -> ProcessStatus {
        var reader = SettingsReader(environment: environment)
        let logger = startLog(&reader)
        if let descriptors, descriptors.connections(of: .max) == nil {
            logger.critical(
                "cannot start: too few open files are allowed",
                metadata: [
                    "allowed": "\(descriptors.count)", "needed": "\(DescriptorLimit.least)",
                    "todo":
                        "raise the hard limit: ulimit -Hn, LimitNOFILE, or nofile of the container",
                ]
            )
            return .configuration
        }
        let composition: Composition
        do {
            composition = try compose(&reader, logger)
        } catch {
            return refuse(reader, error, logger)
        }
        guard reader.problems.isEmpty else { return refuse(reader, nil, logger) }
        logSettings(reader, logger)
        let reporter = ReadinessReporter(checks: composition.readiness, logger: logger)
        return await run([reporter] + composition.services, logger)
    }

    /// Carries out a command that prints its own output.
    private func carryOut(_ name: String, _ command: ServiceWork?) async -> ProcessStatus {
        guard let command else { return .usage }
        return await perform(name) { reader, logger in
            let work = try command(&reader, logger)
            return {
                try await work()
                return ""
            }
        }
    }

    /// Reads the settings of a command, does its work, and prints the result.
    private func perform(
        _ name: String,
        _ prepare:
            (inout SettingsReader, Logger) throws -> @Sendable () async throws -> String
    ) async -> ProcessStatus {
        var reader = SettingsReader(environment: environment)
        let logger = startLog(&reader)
        let work: @Sendable () async throws -> String
        do {
            work = try prepare(&reader, logger)
        } catch {
            return refuse(reader, error, logger)
        }
        guard reader.problems.isEmpty else { return refuse(reader, nil, logger) }
        do {
            writeOutput(try await work())
            return .success
        } catch {
            logger.critical("\(name) failed", metadata: ["error": "\(error)"])
            return .failure
        }
    }

    /// Runs the parts until a signal, or until one of them fails.
    private func run(_ services: [any Service], _ logger: Logger) async -> ProcessStatus {
        // The group logs errors that are already logged here as one critical line.
        var quiet = logger
        quiet.logLevel = logger.logLevel <= .debug ? logger.logLevel : .critical
        let deadline = ShutdownDeadline(limit: shutdownMax, logger: logger)
        let parts = services.map {
            ReportingService(service: $0, logger: logger, deadline: deadline)
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: parts.map {
                    .init(
                        service: $0,
                        successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup,
                        serviceName: $0.name
                    )
                },
                logger: quiet
            )
        )
        let signals = trapsSignals ? await UnixSignalsSequence(trapping: .sigterm, .sigint) : nil
        let listener = Task.detached {
            guard let signals else { return }
            await shutDown(group, on: signals, deadline, logger)
        }
        defer {
            listener.cancel()
            deadline.cancel()
        }
        do {
            try await group.run()
            logger.info("stopped")
            return .success
        } catch {
            return isConfiguration(error) ? .configuration : .failure
        }
    }

    private func startLog(_ reader: inout SettingsReader) -> Logger {
        let settings = LogSettings(&reader)
        let writeLog = writeLog
        let makeLog: MakeLog = { label in
            LogOutput(label: label, level: settings.level, format: settings.format, write: writeLog)
        }
        bootstrap(makeLog)
        return Logger(label: name, factory: makeLog)
    }

    /// Logs one critical line for each problem of the settings, or else one for the error.
    private func refuse(
        _ reader: SettingsReader,
        _ error: (any Error)?,
        _ logger: Logger
    ) -> ProcessStatus {
        for problem in reader.problems {
            logger.critical(
                "invalid setting",
                metadata: ["key": "\(problem.key)", "problem": "\(problem.problem)"]
            )
        }
        if reader.problems.isEmpty, let error {
            logger.critical("cannot start", metadata: ["error": "\(error)"])
        }
        return .configuration
    }

    private func isConfiguration(_ error: any Error) -> Bool {
        guard let error = error as? ServiceKitError else { return false }
        return error.code == .settings || error.code == .keys
    }

    /// Logs the settings from the environment, with secrets redacted.
    private func logSettings(_ reader: SettingsReader, _ logger: Logger) {
        var metadata: Logger.Metadata = ["version": "\(ServiceHelp.version)"]
        for setting in reader.documented {
            if let value = setting.value { metadata[setting.key] = "\(value)" }
        }
        logger.info("starting", metadata: metadata)
    }

    private func describe(
        _ compose: @Sendable (inout SettingsReader, Logger) throws -> Composition,
        _ commands: [ServiceWork]
    ) -> String {
        let silent = Logger(label: name) { _ in SwiftLogNoOpLogHandler() }
        var serving = SettingsReader(environment: environment, isDescribing: true)
        _ = LogSettings(&serving)
        // Composing fails on the placeholders once it has read its settings. Only the list of
        // settings is needed.
        _ = try? compose(&serving, silent)
        let others = commands.flatMap { command in
            var reader = SettingsReader(environment: environment, isDescribing: true)
            _ = try? command(&reader, silent)  // It fails on the placeholders, too.
            return reader.documented
        }
        return ServiceHelp.table(serving.documented + others)
    }
}
