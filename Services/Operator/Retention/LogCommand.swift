import ArgumentParser
import ClockAndIDs
import EventArchive
import EventTypes
import Foundation
import Messaging
import OperatorCore
import Seals

/// `counterfoil log`: lists old months of the event logs, exports them to files, and drops them.
struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Moves old months of the event logs from the databases into files.",
        discussion: """
            A month can leave once it is over, every consumer has confirmed its events, and its \
            file holds exactly the sealed events. The database checks once more before it drops \
            anything. The seals stay, so 'counterfoil verify --archives DIR' can check the \
            files. 'counterfoil replay' and 'counterfoil replay --verify' read them with \
            --archives DIR, and 'counterfoil replay' sends one again with --from-file. Consumers \
            know their places for ever and recognise events replayed from a file of any age.

            Dropping needs the role counterfoil_archivist \
            (COUNTERFOIL_ARCHIVIST_PAYMENTS_DATABASE_URL, …).

            Examples:
              counterfoil log list
              counterfoil log export --month 2026-01 --to /var/lib/counterfoil/archives
              counterfoil log drop --month 2026-01 --from /var/lib/counterfoil/archives \\
                --execute
              counterfoil log retain --keep 12 --to /var/lib/counterfoil/archives --execute
            """,
        subcommands: [
            LogListCommand.self, LogExportCommand.self, LogDropCommand.self, LogRetainCommand.self,
        ]
    )
}

/// The option that selects services.
struct LogServicesOptions: ParsableArguments {
    @Option(help: "Take the log of this service only; may be repeated.")
    var service: [StoreOptions.Service] = []

    /// The selected services, in the order that all lists have.
    var services: [StoreOptions.Service] {
        StoreOptions.Service.allCases.filter { service.isEmpty || service.contains($0) }
    }
}

/// The option that selects months.
struct LogMonthsOptions: ParsableArguments {
    @Option(
        help: "Take this month (in UTC), such as 2026-01; may be repeated.",
        transform: Self.month
    )
    var month: [LogMonth] = []

    func validate() throws {
        guard !month.isEmpty else { throw ValidationError("Name a month: --month 2026-01.") }
    }

    @Sendable
    private static func month(_ text: String) throws -> LogMonth {
        guard let month = LogMonth(text) else {
            throw ValidationError("'\(text)' is not a month such as 2026-01.")
        }
        return month
    }
}

/// `counterfoil log list`.
struct LogListCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the months of the logs, with their sizes and where they are."
    )

    @OptionGroup var which: LogServicesOptions
    @OptionGroup var databases: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func perform() async throws {
        var months: [LogMonthLine] = []
        let present = LogMonth(StoreTime.wallClock())
        for service in which.services {
            months += try await DatabaseReader.read(databases.address(of: service)) { connection in
                try LogArchiveStore.months(on: connection)
            }
            .filter { $0.month <= present }
            .map { LogMonthLine($0, of: service.rawValue, isOver: $0.month < present) }
        }
        guard !output.json else { return try Console.say(json: months) }
        Console.say(LogMonthLine.table(months, output.palette))
    }
}

/// `counterfoil log export`.
struct LogExportCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes a month to a compressed file with a manifest, and checks the file.",
        discussion: """
            The file holds one event per line as JSON, compressed. Its manifest holds the count, \
            the file's SHA-256, and the digest of the month's newest seal. Once written, the \
            file is checked against the seals. The database is not changed.
            """
    )

    @OptionGroup var which: LogServicesOptions
    @OptionGroup var months: LogMonthsOptions
    @Option(help: ArgumentHelp("The folder for the files.", valueName: "directory"))
    var to: String
    @OptionGroup var databases: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func perform() async throws {
        try await LogArchiveRunner.report(in: to, databases, output) { archiver in
            for service in which.services {
                for month in months.month { try await archiver.export(month, of: service) }
            }
        }
    }
}

/// `counterfoil log drop`.
struct LogDropCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Drops a month from the database once it is in a file.",
        discussion: """
            The file is checked against the seals first, and the database checks that it has the \
            same events. Without --execute the command stops before it drops anything.
            """
    )

    @OptionGroup var which: LogServicesOptions
    @OptionGroup var months: LogMonthsOptions
    @Option(help: ArgumentHelp("The folder of the files.", valueName: "directory"))
    var from: String
    @Flag(help: "Drop it; without this, the command only checks.")
    var execute = false
    @OptionGroup var databases: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func perform() async throws {
        try await LogArchiveRunner.report(in: from, databases, output) { archiver in
            for service in which.services {
                for month in months.month {
                    try await archiver.drop(month, of: service, execute: execute)
                }
            }
        }
    }
}

/// `counterfoil log retain`: exports and drops every month that is old enough.
struct LogRetainCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "retain",
        abstract: "Keeps the newest months in the databases, and moves older ones into files.",
        discussion: """
            Meant for a timer: it moves the months that are due, if there are any. The next run \
            continues one that was interrupted. deploy/systemd and deploy/kubernetes run it once \
            a day.
            """
    )

    @Option(help: "How many months stay in the databases, including the current one.")
    var keep: Int
    @OptionGroup var which: LogServicesOptions
    @Option(help: ArgumentHelp("The folder for the files.", valueName: "directory"))
    var to: String
    @Flag(help: "Move what is due; without this, the command only lists it.")
    var execute = false
    @OptionGroup var databases: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...1200).contains(keep) else {
            throw ValidationError("--keep must be from 1 to 1200 months.")
        }
    }

    func perform() async throws {
        try await LogArchiveRunner.report(in: to, databases, output) { archiver in
            let newestDue = LogMonth(StoreTime.wallClock()).advanced(by: -keep)
            for service in which.services {
                let due = try await DatabaseReader.read(databases.address(of: service)) {
                    connection in
                    try LogArchiveStore.months(on: connection)
                }
                .filter { $0.dropped == nil && $0.month <= newestDue }
                for month in due {
                    guard execute else {
                        archiver.note(month.month, of: service, .due)
                        continue
                    }
                    guard try await archiver.export(month.month, of: service) else { continue }
                    try await archiver.drop(month.month, of: service, execute: true)
                }
            }
        }
    }
}
