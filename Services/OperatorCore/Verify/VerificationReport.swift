package import Rebuild

/// The findings of a proof.
///
/// Pure. `replay --verify --json` prints it as JSON.
package struct VerificationReport: Codable, Sendable {
    /// A table that was rebuilt.
    package struct Table: Codable, Hashable, Sendable {
        package let name: String
        package let rows: Int
        package let differences: Int
    }

    /// A row that differs from the log.
    package struct Difference: Codable, Hashable, Sendable {
        package let table: String
        package let row: RowDifference
    }

    /// One service's books.
    package struct Service: Codable, Sendable {
        package let name: String
        package var events = 0
        /// The time that applying the log took, and the time of the whole rebuild.
        var applyingMilliseconds = 0
        package var milliseconds = 0
        package var tables: [Table] = []
        /// The first thousand differences of each table.
        package var differences: [Difference] = []
        /// The first thousand contradictions.
        package var contradictions: [LogContradiction] = []
        package var contradictionCount = 0
        /// Whether the rebuild was completed.
        package var isComplete = false
    }

    package var services: [Service]

    /// Begins a report of services.
    package init(_ names: [String]) {
        services = names.map { Service(name: $0) }
    }

    /// Takes a line that a service's rebuild has reported.
    package mutating func take(_ line: RebuildLine, of name: String) {
        guard let index = services.firstIndex(where: { $0.name == name }) else { return }
        switch line {
        case .applied(let events, _): services[index].events = events
        case .comparing: break
        case .contradiction(let contradiction):
            services[index].contradictions.append(contradiction)
            services[index].contradictionCount += 1
        case .difference(let table, let row):
            services[index].differences.append(Difference(table: table, row: row))
        case .table(let table, let rows, let differences):
            services[index].tables.append(
                Table(name: table, rows: rows, differences: differences)
            )
        case .done(let events, let contradictions, let applying, let milliseconds):
            services[index].events = events
            services[index].contradictionCount = contradictions
            services[index].applyingMilliseconds = applying
            services[index].milliseconds = milliseconds
            services[index].isComplete = true
        }
    }

    /// The number of rows that differ from the log, and of events that the rules would not produce.
    package var differenceCount: Int {
        services.reduce(0) { $0 + $1.differenceCount }
    }

    /// The number of rows that were compared.
    package var rowCount: Int { tables.reduce(0) { $0 + $1.rows } }

    private var tables: [Table] { services.flatMap(\.tables) }

    /// The last line.
    package var verdict: String {
        "\(differenceCount.grouped) differences in \(rowCount.grouped) rows "
            + "of \(tables.count) tables"
    }
}

extension VerificationReport.Service {
    /// The number of things that differ, of which the report may have only the first ones.
    package var differenceCount: Int {
        contradictionCount + tables.reduce(0) { $0 + $1.differences }
    }

    /// A line for each thing that differs.
    package var lines: [String] { contradictionLines + differences.map(\.line) }

    /// A line for each contradiction.
    package var contradictionLines: [String] {
        contradictions.map {
            "log \($0.position): \($0.type) of \($0.subject): \($0.reason)"
        }
    }
}

extension VerificationReport.Difference {
    /// The table, the row's key, and how the row differs.
    package var line: String {
        let what =
            switch row.kind {
            case .missing: "is missing; the log says that there is one"
            case .notInTheLog: "is not in the log"
            case .changed:
                row.columns.map { column in
                    "\(column.name) is \(Self.shown(column.live)), the log says \(Self.shown(column.log))"
                }.joined(separator: "; ")
            }
        return "\(table) \(key): \(what)"
    }

    /// The row's key, as people write it.
    package var key: String {
        row.key.split(separator: " ").map(Self.withoutLeadingZeros).joined(separator: " ")
    }

    private static func withoutLeadingZeros(_ part: some StringProtocol) -> String {
        guard part.count == 20, part.allSatisfy(\.isNumber) else { return String(part) }
        let digits = part.drop { $0 == "0" }
        return digits.isEmpty ? "0" : String(digits)
    }

    /// A value as a line has it; a long one is cut.
    package static func shown(_ value: String?) -> String {
        guard let value else { return "NULL" }
        let scalars = value.unicodeScalars
        return scalars.count <= 120 ? "'\(value)'" : "'\(String(scalars.prefix(117)))…'"
    }
}

extension VerificationReport {
    /// Keeps only the first differences and contradictions of each service; the numbers stay.
    package mutating func keep(differences count: Int) {
        for index in services.indices {
            services[index].differences = Array(services[index].differences.prefix(count))
            services[index].contradictions = Array(services[index].contradictions.prefix(count))
        }
    }
}
