import OperatorCore
import Rebuild

/// The findings of a proof.
///
/// Pure. `replay --verify --json` prints it as JSON.
struct VerificationReport: Codable, Sendable {
    /// A table that was rebuilt.
    struct Table: Codable, Hashable, Sendable {
        let name: String
        let rows: Int
        let differences: Int
    }

    /// A row that differs from the log.
    struct Difference: Codable, Hashable, Sendable {
        let table: String
        let row: RowDifference
    }

    /// One service's books.
    struct Service: Codable, Sendable {
        let name: String
        var events = 0
        /// The time that applying the log took, and the time of the whole rebuild.
        var applyingMilliseconds = 0
        var milliseconds = 0
        var tables: [Table] = []
        /// The first thousand differences of each table.
        var differences: [Difference] = []
        /// The first thousand contradictions.
        var contradictions: [LogContradiction] = []
        var contradictionCount = 0
        /// Whether the rebuild was completed.
        var isComplete = false
    }

    var services: [Service]

    /// Begins a report of services.
    init(_ names: [String]) {
        services = names.map { Service(name: $0) }
    }

    /// Takes a line that a service's rebuild has reported.
    mutating func take(_ line: RebuildLine, of name: String) {
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
    var differenceCount: Int {
        services.reduce(0) { sum, service in
            sum + service.contradictionCount
                + service.tables.reduce(0) { $0 + $1.differences }
        }
    }

    /// The number of rows that were compared.
    var rowCount: Int { tables.reduce(0) { $0 + $1.rows } }

    private var tables: [Table] { services.flatMap(\.tables) }

    /// The last line.
    var verdict: String {
        "\(differenceCount.grouped) differences in \(rowCount.grouped) rows "
            + "of \(tables.count) tables"
    }

    /// The tables that were compared, and every difference.
    func text(_ palette: Palette) -> String {
        var rows: [[Cell]] = [
            [
                Cell("service", .dim), Cell("table", .dim), Cell("rows", .dim),
                Cell("differences", .dim),
            ]
        ]
        for service in services {
            for table in service.tables {
                rows.append(
                    [
                        Cell(service.name), Cell(table.name), Cell(table.rows.grouped),
                        Cell(table.differences.grouped, table.differences == 0 ? .plain : .red),
                    ]
                )
            }
        }
        var parts = [palette.table(rows, numbers: [2, 3], indent: 2)]
        for service in services {
            let lines = Self.lines(of: service)
            guard !lines.isEmpty else { continue }
            parts.append(
                ([palette.styled(Cell(service.name, .bold))] + lines).joined(separator: "\n  ")
            )
        }
        return parts.joined(separator: "\n\n")
    }

    private static func lines(of service: Service) -> [String] {
        let contradictions = service.contradictions.map {
            "log \($0.position): \($0.type) of \($0.subject): \($0.reason)"
        }
        return contradictions
            + service.differences.map { difference in
                let row = difference.row
                let key = row.key.split(separator: " ").map(Self.withoutLeadingZeros)
                    .joined(separator: " ")
                let what =
                    switch row.kind {
                    case .missing: "is missing; the log says that there is one"
                    case .notInTheLog: "is not in the log"
                    case .changed:
                        row.columns.map { column in
                            "\(column.name) is \(shown(column.live)), the log says \(shown(column.log))"
                        }.joined(separator: "; ")
                    }
                return "\(difference.table) \(key): \(what)"
            }
    }

    private static func withoutLeadingZeros(_ part: some StringProtocol) -> String {
        guard part.count == 20, part.allSatisfy(\.isNumber) else { return String(part) }
        let digits = part.drop { $0 == "0" }
        return digits.isEmpty ? "0" : String(digits)
    }

    private static func shown(_ value: String?) -> String {
        guard let value else { return "NULL" }
        let scalars = value.unicodeScalars
        return scalars.count <= 120 ? "'\(value)'" : "'\(String(scalars.prefix(117)))…'"
    }
}
