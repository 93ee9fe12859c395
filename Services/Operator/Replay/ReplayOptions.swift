import ArgumentParser
import EventTypes
import OperatorCore

/// The options that select a replay's events.
struct ReplayOptions: ParsableArguments {
    @Option(help: "Select events of this topic; may be repeated.")
    var topic: [String] = []

    @Option(help: "Select events of this type, such as transaction.purchased.v1; may be repeated.")
    var type: [String] = []

    @Option(help: "Select events of this account (or product, for the catalog); may be repeated.")
    var account: [String] = []

    @Option(help: "Select events about this transaction; may be repeated.")
    var transaction: [String] = []

    @Option(help: "Select the event with this id; may be repeated.")
    var event: [String] = []

    @Option(help: "Start at this time, in UTC: 2026-11-21T14:00:00Z.", transform: moment)
    var since: StoreTime?

    @Option(help: "Stop before this time, in UTC: 2026-11-21T15:00:00Z.", transform: moment)
    var until: StoreTime?

    @Option(
        help: ArgumentHelp("Start at this place in one service's log.", valueName: "xid:position")
    )
    var from: String?

    @Option(help: ArgumentHelp("Stop after this place.", valueName: "xid:position"))
    var through: String?

    /// The selection.
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
}
