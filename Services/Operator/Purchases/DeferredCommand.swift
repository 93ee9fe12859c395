import ArgumentParser
import ClockAndIDs
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil deferred`.
struct DeferredCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "deferred",
        abstract: "Lists the transactions that wait for an approval, the oldest first.",
        discussion: """
            Approve or decline one with 'counterfoil approve ID' or 'counterfoil decline ID'.

            JSON:
              {"transactions": [{"transactionID", "accountID", "bundleID",
               "productID", "quantity", "price", "since"}]}
            """
    )

    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeysOption
    @OptionGroup var admin: AdminOption

    @Option(help: "The most transactions to list.")
    var limit = 1000

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be above 0.") }
    }

    func perform() async throws {
        let connection = store.connection(
            to: .fulfillment,
            token: try await admin.token(
                keys: keys.directory,
                at: .now(),
                lifetime: .seconds(300)
            )
        )
        let list = try await PagedList<DeferredTransaction>(upTo: limit) { (next: String?) in
            let page = try await connection.send(
                .GET,
                Routes.adminDeferred,
                StoreConnection.Content(query: next.map { [("after", $0)] } ?? []),
                as: DeferredResponse.self
            )
            return (page.transactions, page.next)
        }
        let transactions = list.elements
        if store.json {
            try Console.say(json: DeferredResponse(next: nil, transactions: transactions))
        } else if transactions.isEmpty {
            Console.say("No transaction waits for an approval.")
        } else {
            Console.say(store.output.palette.table(Self.table(transactions)))
            if list.isCut { Console.say("There are more. Use --limit.") }
        }
    }

    private static func table(_ transactions: [DeferredTransaction]) -> [[String]] {
        [["ID", "SINCE", "ACCOUNT", "APP", "PRODUCT", "PRICE"]]
            + transactions.map {
                [
                    $0.transactionID.rawValue, "\($0.since)", $0.accountID.rawValue,
                    $0.bundleID.rawValue, "\($0.quantity) × \($0.productID)", "\($0.price)",
                ]
            }
    }
}
