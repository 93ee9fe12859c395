import EventTypes
import StoreAPI

/// The store's clock in words.
struct ClockReport {
    let clock: ClockResponse

    init(_ clock: ClockResponse) { self.clock = clock }

    /// The time, how the clock runs, and how far an advance is.
    var text: String {
        ["\(clock.now), \(motion)", advance].compactMap { $0 }.joined(separator: "\n")
    }

    private var motion: String {
        switch clock.mode {
        case .machines: "the machines' time; nobody has set the clock"
        case .frozen: "frozen"
        case .running:
            "running at \(clock.rate ?? "an unknown rate")"
                + (clock.end.map { " until \($0), when the receipts' certificates end" } ?? "")
        }
    }

    private var advance: String? {
        guard let target = clock.target else { return nil }
        switch clock.status {
        case .ready: return nil
        case .advancing: return "On its way to \(target)\(waiting)"
        case .failed:
            return """
                The advance to \(target) failed: \(clock.failure ?? "for an unknown reason")
                Repair the cause, then run: counterfoil clock resume
                """
        }
    }

    private var waiting: String {
        let works = clock.waitsFor ?? []
        return works.isEmpty ? "." : "; it waits for \(works.joined(separator: ", "))."
    }

    /// The work that the newest advance did, in words.
    var done: String {
        let done = (clock.done ?? [:]).sorted { $0.key < $1.key }
        return done.isEmpty
            ? "Nothing was due."
            : "Done: " + done.map { Self.counted($0.key, $0.value) }.joined(separator: ", ") + "."
    }

    /// A number of pieces of work; the names of work are plurals.
    private static func counted(_ name: String, _ count: Int64) -> String {
        count == 1 && name.hasSuffix("s") ? "1 \(name.dropLast())" : "\(count) \(name)"
    }
}
