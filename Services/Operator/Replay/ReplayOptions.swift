import ArgumentParser
import EventTypes

/// Which events a replay is about, from the command line.
struct ReplayOptions: ParsableArguments {
    @Option(help: "Events of this topic; may be repeated.")
    var topic: [String] = []

    @Option(help: "Events of this type, such as transaction.purchased.v1; may be repeated.")
    var type: [String] = []

    @Option(help: "Events of this account (or product, in the catalog's topic); may be repeated.")
    var account: [String] = []

    @Option(help: "Events about this transaction; may be repeated.")
    var transaction: [String] = []

    @Option(help: "The event of this id; may be repeated.")
    var event: [String] = []

    @Option(help: "From this moment on: 2026-11-21T14:00:00Z.", transform: Self.moment)
    var since: Timestamp?

    @Option(help: "Before this moment: 2026-11-21T15:00:00Z.", transform: Self.moment)
    var until: Timestamp?

    @Option(
        help: ArgumentHelp("From this place of one service's log on.", valueName: "xid:position")
    )
    var from: String?

    @Option(help: ArgumentHelp("Through this place.", valueName: "xid:position"))
    var through: String?

    /// What is selected.
    var selection: ReplaySelection {
        ReplaySelection(
            topics: topic,
            types: type,
            accounts: account,
            transactions: transaction,
            events: event.map { $0.lowercased() },
            since: since,
            until: until,
            from: from,
            through: through
        )
    }

    @Sendable
    private static func moment(_ text: String) throws -> Timestamp {
        guard let time = Timestamp(text) else {
            throw ValidationError("'\(text)' is no moment in UTC; write 2026-11-21T14:00:00Z.")
        }
        return time
    }
}
