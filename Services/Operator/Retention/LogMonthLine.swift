import EventArchive
import Messaging
import OperatorCore
import Seals

/// A month of a log as it is listed.
///
/// Pure.
struct LogMonthLine: Encodable, Hashable, Sendable {
    let service: String
    let month: String
    /// The approximate number of events, if they are in the database.
    let events: Int64
    let isEstimate: Bool
    /// The size in the database, in bytes.
    let bytes: Int64
    let isOver: Bool
    /// The file that holds the month, once it has left the database.
    let file: String?
    /// The digest of the newest seal of the file's events.
    let head: String?

    init(_ logged: LoggedMonth, of service: String, isOver: Bool) {
        self.service = service
        month = logged.month.description
        events = logged.rows
        isEstimate = logged.dropped == nil
        bytes = logged.bytes
        self.isOver = isOver
        file = logged.dropped?.fileName
        head = logged.dropped?.head.description
    }

    /// The place of the month, in words.
    private var place: Cell {
        if let file { return Cell(file, .dim) }
        return Cell(isOver ? "here" : "here, not over")
    }

    /// Months as a table.
    static func table(_ months: [LogMonthLine], _ palette: Palette) -> String {
        let head = ["SERVICE", "MONTH", "EVENTS", "SIZE", "WHERE"].map { Cell($0, .dim) }
        return palette.table(
            [head]
                + months.map { month in
                    [
                        Cell(month.service), Cell(month.month),
                        Cell((month.isEstimate ? "~" : "") + Int(month.events).grouped),
                        Cell(month.file == nil ? size(month.bytes) : "-"), month.place,
                    ]
                },
            numbers: [2, 3]
        )
    }

    private static func size(_ bytes: Int64) -> String {
        bytes < 10_000_000
            ? "\(Int((bytes + 999) / 1000).grouped) KB" : "\(Int(bytes / 1_000_000).grouped) MB"
    }
}

/// The outcome of a command for one month.
struct ArchivingOutcome: Encodable, Hashable, Sendable {
    /// The state that the month reached.
    enum Step: String, Encodable, Sendable {
        case empty
        case due
        case exported
        case mayBeDropped = "may-be-dropped"
        case dropped
        case alreadyDropped = "already-dropped"
    }

    let service: String
    let month: String
    var step: Step
    var events: Int?
    var file: String?
    var sha256: String?

    /// The outcome in one line.
    var text: String {
        let what = "\(service) \(month)"
        let count = events.map { "\($0.grouped) events" } ?? "events"
        return switch step {
        case .empty: "\(what): has no events"
        case .due: "\(what): is due; --execute moves it into a file"
        case .exported: "\(what): \(count) in \(file ?? "")"
        case .mayBeDropped:
            "\(what): \(count) are in \(file ?? ""), as sealed; --execute drops them"
        case .dropped: "\(what): \(count) in \(file ?? ""), dropped here"
        case .alreadyDropped: "\(what): was moved to \(file ?? "") before"
        }
    }
}
