import ArgumentParser
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil families list`.
struct ListFamiliesCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists families, the oldest first, or the family of one account.",
        discussion: "JSON: {\"families\": [as the 'family' of 'show']}"
    )

    @OptionGroup var store: FamilyStoreOptions

    @Option(help: "List only families in this app, by its bundle id.", transform: identifier)
    var app: BundleID?

    @Option(help: "List only the family of this account; needs --app.", transform: identifier)
    var account: AccountID?

    @Option(help: "The most families to list.")
    var limit = 1000

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be above 0.") }
        guard account == nil || app != nil else {
            throw ValidationError("--account needs --app: an account is a buyer in one app.")
        }
    }

    func perform() async throws {
        let connection = try await store.access.connection(of: store.store)
        let filter = [("bundleID", app?.rawValue), ("account", account?.rawValue)].compactMap {
            name,
            value in value.map { (name: name, value: $0) }
        }
        let list = try await PagedList<Family>(upTo: limit) { (next: FamilyID?) in
            let place = next.map { [(name: "after", value: $0.rawValue)] } ?? []
            let page = try await connection.send(
                .GET,
                Routes.adminFamilies,
                StoreConnection.Content(query: filter + place),
                as: FamiliesResponse.self
            )
            return (page.families, page.next)
        }
        let families = list.elements
        if store.store.json {
            try Console.say(json: FamiliesResponse(families: families))
        } else if families.isEmpty {
            Console.say("There are no such families.")
        } else {
            Console.say(families.map(FamilyReport.line).joined(separator: "\n"))
            if list.isCut { Console.say("There are more. Use --limit.") }
        }
    }
}
