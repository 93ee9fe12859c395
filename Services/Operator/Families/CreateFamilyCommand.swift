import ArgumentParser
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil families create`.
struct CreateFamilyCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Makes a family.",
        discussion: "Repeating the command prints the same family. JSON: as in 'show'."
    )

    @OptionGroup var store: FamilyStoreOptions
    @OptionGroup var why: ReasonOption

    @Option(help: "The app, by its bundle id.", transform: identifier)
    var app: BundleID

    // As a single value, the last of several would count, and nothing would say so.
    @Option(
        name: .customLong("organizer"),
        help: "The organizer, exactly one: a member until the family ends.",
        transform: identifier
    )
    var organizers: [AccountID]

    @Option(
        name: .customLong("member"),
        help: "Another member, of one to five. Repeat it for each of them.",
        transform: identifier
    )
    var members: [AccountID] = []

    func validate() throws {
        guard organizers.count == 1 else {
            throw ValidationError("A family has one organizer. Name the others with --member.")
        }
    }

    func perform() async throws {
        let request = FamilyRequest(
            bundleID: app,
            organizer: organizers[0],
            members: members,
            reason: why.reason
        )
        try await store.show(.POST, Routes.adminFamilies, .json(request))
    }
}
