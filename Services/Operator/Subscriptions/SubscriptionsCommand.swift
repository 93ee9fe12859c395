import ArgumentParser
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil subscriptions`: subscriptions that renew.
struct SubscriptionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions",
        abstract: "Lists subscriptions, turns their renewal off and on, and raises their prices.",
        discussion: """
            A subscription has the id of its first transaction.

            Examples:
              counterfoil subscriptions list --state inBillingRetryPeriod
              counterfoil subscriptions show 2175520387220000
              counterfoil subscriptions cancel 2175520387220000
              counterfoil subscriptions resume 2175520387220000
              counterfoil subscriptions raise com.example.club USA 12.99 --dry-run
              counterfoil subscriptions extend 2175520387220000 --days 3
              counterfoil subscriptions extend-all club --app com.example.app --days 3
            """,
        subcommands: [
            ListSubscriptionsCommand.self, ShowSubscriptionCommand.self,
            CancelSubscriptionCommand.self, ResumeSubscriptionCommand.self,
            RaiseSubscriptionsCommand.self, ExtendSubscriptionCommand.self, ExtendAllCommand.self,
        ]
    )
}

/// `counterfoil subscriptions list`.
struct ListSubscriptionsCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists subscriptions, the oldest first.",
        discussion: "JSON: {\"subscriptions\": [as in 'show']}"
    )

    @OptionGroup var store: StoreOptions
    @OptionGroup var access: SubscriptionAccess

    @Option(help: "List one state only: \(Self.states.joined(separator: ", ")).")
    var state: String?

    @Option(help: "The most subscriptions to list.")
    var limit = 1000

    private static let states = [
        SubscriptionState.active, .inGracePeriod, .inBillingRetryPeriod, .expired, .revoked,
    ].map(\.rawValue)

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be above 0.") }
        guard let state, !Self.states.contains(state) else { return }
        throw ValidationError(
            "'\(state)' is not a state: choose one of \(Self.states.joined(separator: ", "))."
        )
    }

    func perform() async throws {
        let connection = try await access.connection(of: store)
        let list = try await PagedList<Subscription>(upTo: limit) { (next: TransactionID?) in
            var query: [(name: String, value: String)] = []
            if let state { query.append(("state", state)) }
            if let next { query.append(("after", next.rawValue)) }
            let page = try await connection.send(
                .GET,
                Routes.adminSubscriptions,
                StoreConnection.Content(query: query),
                as: SubscriptionsResponse.self
            )
            return (page.subscriptions, page.next)
        }
        let subscriptions = list.elements
        if store.json {
            try Console.say(json: SubscriptionsResponse(subscriptions: subscriptions))
        } else if subscriptions.isEmpty {
            Console.say("There are no such subscriptions.")
        } else {
            Console.say(store.output.palette.table(SubscriptionReport.table(subscriptions)))
            if list.isCut { Console.say("There are more. Use --limit.") }
        }
    }
}

/// `counterfoil subscriptions show`.
struct ShowSubscriptionCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows a subscription."
    )

    @OptionGroup var options: SubscriptionOptions

    func perform() async throws {
        try options.show(
            try await options.connection().send(
                .GET,
                Routes.adminSubscription(options.subscription),
                as: SubscriptionResponse.self
            )
        )
    }
}

/// `counterfoil subscriptions cancel`.
struct CancelSubscriptionCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Turns the renewal of a subscription off.",
        discussion: """
            The account keeps the service until the end of its period. If the store is trying to \
            charge for a period that has ended, the subscription ends at once.
            """
    )

    @OptionGroup var options: SubscriptionOptions
    @OptionGroup var why: ReasonOption

    func perform() async throws { try await options.setAutoRenew(false, because: why.reason) }
}

/// `counterfoil subscriptions resume`.
struct ResumeSubscriptionCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Turns the renewal of a running subscription on again."
    )

    @OptionGroup var options: SubscriptionOptions
    @OptionGroup var why: ReasonOption

    func perform() async throws { try await options.setAutoRenew(true, because: why.reason) }
}
