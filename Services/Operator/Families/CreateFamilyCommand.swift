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

    @Option(help: "The organizer: a member until the family ends.", transform: identifier)
    var organizer: AccountID

    @Option(
        name: .customLong("member"),
        help: "Another member. Repeat it for each of them.",
        transform: identifier
    )
    var members: [AccountID] = []

    func perform() async throws {
        let request = FamilyRequest(
            bundleID: app,
            organizer: organizer,
            members: members,
            reason: why.reason
        )
        try await store.show(.POST, Routes.adminFamilies, .json(request))
    }
}
