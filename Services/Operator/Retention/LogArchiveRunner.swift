import ClockAndIDs
import EventArchive
import EventTypes
import Foundation
import Messaging
import OperatorCore
import Postgres
import Seals

/// Moves months of the logs into files.
///
/// A file is either complete and checked, or absent. A month is dropped in the same database
/// transaction that records its file. After a kill, the next call continues.
struct LogArchiveRunner {
    let directory: String
    let databases: DatabaseOptions
    private let progress = ProgressLine()
    private var outcomes: [ArchivingOutcome] = []

    private static let pageSize = 2000
    /// The number of tries to drop a month while others read the log, one second apart.
    private static let dropTriesMax = 30

    /// Creates the folder if necessary.
    ///
    /// - Throws: ``OperatorError`` if the folder cannot be created.
    private init(directory: String, databases: DatabaseOptions) throws(OperatorError) {
        self.directory = directory
        self.databases = databases
        // If gzip dies, for example because the disk is full, the write fails but this process
        // survives.
        signal(SIGPIPE, SIG_IGN)
        do {
            try FileManager.default.createDirectory(
                atPath: directory,
                withIntermediateDirectories: true
            )
        } catch {
            throw OperatorError.unwritable(directory, error, .usage)
        }
    }

    /// Runs a body with an archiver, and reports what was done, even if the body fails.
    static func report(
        in directory: String,
        _ databases: DatabaseOptions,
        _ output: OutputOptions,
        _ body: (inout LogArchiveRunner) async throws -> Void
    ) async throws {
        var archiver = try LogArchiveRunner(directory: directory, databases: databases)
        do {
            try await body(&archiver)
        } catch {
            // The work done before the error stays done, so it is reported together with the error.
            if !archiver.outcomes.isEmpty { try archiver.report(output) }
            archiver.progress.end()
            throw error
        }
        try archiver.report(output)
    }

    /// Records the outcome for a month.
    mutating func note(
        _ month: LogMonth,
        of service: StoreOptions.Service,
        _ step: ArchivingOutcome.Step,
        _ file: EventFileReader? = nil
    ) {
        let outcome = ArchivingOutcome(
            service: service.rawValue,
            month: month.description,
            step: step,
            events: file?.manifest.events,
            file: file?.path,
            sha256: file?.manifest.sha256
        )
        outcomes.removeAll { $0.service == outcome.service && $0.month == outcome.month }
        outcomes.append(outcome)
    }

    private func report(_ output: OutputOptions) throws {
        progress.end()
        if output.json { return try Console.say(json: outcomes) }
        guard !outcomes.isEmpty else { return Console.say("Nothing is due.") }
        for outcome in outcomes { Console.say(outcome.text) }
    }

    private func path(_ month: LogMonth, of service: StoreOptions.Service) -> String {
        directory + "/" + ArchivedMonth.fileName(month, of: service.rawValue)
    }

    // MARK: - Into a file

    /// Writes a month to its file and checks the file, unless it exists already.
    ///
    /// - Returns: Whether there is a file; a month without events has none.
    /// - Throws: ``OperatorError``, `ArchiveError`; then there is no file.
    @discardableResult
    mutating func export(
        _ month: LogMonth,
        of service: StoreOptions.Service
    ) async throws -> Bool {
        guard month < LogMonth(StoreTime.wallClock()) else {
            throw OperatorError(.usage, "The month \(month) is not over; it still gets events.")
        }
        let address = databases.address(of: service)
        if let dropped = try await dropped(month, address) {
            note(
                month,
                of: service,
                .alreadyDropped,
                // The file may have been moved elsewhere by now.
                try? EventFileReader(directory + "/" + dropped.fileName)
            )
            return false
        }
        let path = path(month, of: service)
        let file: EventFileReader
        if FileManager.default.fileExists(atPath: EventFileManifest.path(of: path)) {
            file = try EventFileReader(path)
        } else {
            guard try await write(month, of: service, to: path) else {
                note(month, of: service, .empty)
                return false
            }
            file = try EventFileReader(path)
        }
        try await check(file, of: service)
        note(month, of: service, .exported, file)
        return true
    }

    private func dropped(
        _ month: LogMonth,
        _ address: DatabaseAddress
    ) async throws -> DroppedMonth? {
        try await DatabaseReader.read(address) { connection in
            try LogArchiveStore.dropped(on: connection).first { $0.month == month }
        }
    }

    /// - Returns: Whether the month has events.
    private func write(
        _ month: LogMonth,
        of service: StoreOptions.Service,
        to path: String
    ) async throws -> Bool {
        let progress = progress
        let name = service.rawValue
        return try await OperatorLockStore.withLocks(
            [databases.address(of: service)],
            of: .archiving
        ) {
            // Another process has written it meanwhile.
            if FileManager.default.fileExists(atPath: EventFileManifest.path(of: path)) {
                return true
            }
            // A file without a manifest comes from a run that was interrupted between the two.
            try? FileManager.default.removeItem(atPath: path)
            return try await DatabaseReader.read(databases.address(of: service)) { connection in
                let (head, sealed) = try SealCheck.head(of: month, on: connection)
                var rows = try LogArchiveStore.rows(
                    of: month,
                    after: .start,
                    limit: Self.pageSize,
                    on: connection
                )
                guard let first = rows.first else { return false }
                try requireSealed(first, sealed, month, name)
                guard let head else {
                    throw OperatorError(
                        .failed,
                        "\(name) \(month) has events but no seal, so it stays. See 'counterfoil verify'."
                    )
                }
                var last = first
                var written = 0
                let writer = try EventFileWriter(path)
                do {
                    while let end = rows.last {
                        try requireSealed(end, sealed, month, name)
                        try writer.write(rows, of: name)
                        last = end
                        written += rows.count
                        progress.show("\(name) \(month): \(written.grouped) events")
                        rows = try LogArchiveStore.rows(
                            of: month,
                            after: end.row.place,
                            limit: Self.pageSize,
                            on: connection
                        )
                    }
                } catch {
                    writer.discard()
                    throw error
                }
                _ = try writer.finish(
                    ArchivedMonth(
                        month,
                        of: name,
                        first: first.row.place,
                        last: last.row.place,
                        head: head
                    )
                )
                return true
            }
        }
    }

    private func requireSealed(
        _ row: ExactRow,
        _ sealed: LogPlace,
        _ month: LogMonth,
        _ name: String
    ) throws {
        guard row.row.place <= sealed else {
            throw OperatorError(
                .unavailable,
                """
                \(name) \(month): its last events are not sealed yet. The service seals them within \
                seconds of publishing them; try again later.
                """
            )
        }
    }

    /// Checks a file against the seals, and renames one that does not match.
    private func check(_ file: EventFileReader, of service: StoreOptions.Service) async throws {
        let report = try await DatabaseReader.read(databases.address(of: service)) { connection in
            try SealCheck.check(file, on: connection)
        }
        guard let finding = report.findings.first else { return }
        for path in [file.path, EventFileManifest.path(of: file.path)] {
            // A file that was refused before holds no more information than this one.
            try? FileManager.default.removeItem(atPath: path + ".refused")
            try FileManager.default.moveItem(atPath: path, toPath: path + ".refused")
        }
        throw OperatorError(
            .failed,
            """
            \(service.rawValue): \(file.path) does not match its seals: \(finding)
            It is now called \(file.path).refused. See 'counterfoil verify'; a month that is not \
            as it was sealed stays in the database.
            """
        )
    }

    // MARK: - Out of the database

    /// Drops a month that is in a file.
    ///
    /// - Parameters:
    ///   - month: The month.
    ///   - service: The service.
    ///   - execute: Whether to drop the month, or only to check its file.
    /// - Throws: ``OperatorError``, `ArchiveError`; nothing is dropped then.
    mutating func drop(
        _ month: LogMonth,
        of service: StoreOptions.Service,
        execute: Bool
    ) async throws {
        let path = path(month, of: service)
        if let dropped = try await dropped(month, databases.address(of: service)) {
            let file = try ArchivedRows.file(of: dropped, service.rawValue, in: directory)
            return note(month, of: service, .alreadyDropped, file)
        }
        let file = try EventFileReader(path)
        try await check(file, of: service)
        guard execute else { return note(month, of: service, .mayBeDropped, file) }
        // The file is checked no matter who wrote or copied it: from here on it alone holds these
        // events.
        try file.synchronize()
        let name = ArchivedMonth.fileName(month, of: service.rawValue)
        progress.show("\(service.rawValue) \(month): the database checks once more, and drops it")
        let address = DatabaseAddresses.archivistAddress(
            of: service,
            ProcessInfo.processInfo.environment
        )
        try await DatabaseReader.withSession(address, statementTimeout: .zero) { connection in
            try await withoutReaders(of: service) {
                try await connection.run { try LogArchiveStore.drop(file, named: name, on: $0) }
            }
        }
        note(month, of: service, .dropped, file)
    }

    /// Retries until nobody reads the log at the moment of the drop.
    private func withoutReaders(
        of service: StoreOptions.Service,
        _ drop: () async throws -> Void
    ) async throws {
        var tries = 1
        while true {
            do {
                return try await drop()
            } catch {
                guard (error as? PostgresError)?.code == .lockTimeout else { throw error }
                guard tries < Self.dropTriesMax else {
                    throw OperatorError(
                        .failed,
                        """
                        The log of \(service.rawValue) is being read all the time: by a proof, a backup or \
                        an export (see pg_locks). Nothing was dropped; try again when that has ended.
                        """
                    )
                }
                tries += 1
                progress.show("\(service.rawValue): the log is being read; trying again")
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}
