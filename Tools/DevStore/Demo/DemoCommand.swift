import ArgumentParser
import EventTypes
import Foundation
import StoreHarness

/// `devstore demo`: makes one purchase, or lets one subscription live, and shows it step by step.
struct DemoCommand: AsyncParsableCommand {
    /// The stories that a temporary store can tell.
    enum Story: String, CaseIterable, ExpressibleByArgument {
        /// One purchase.
        case purchase
        /// The life of a subscription.
        case subscription
    }

    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Makes one purchase, shows it step by step, and exits.",
        discussion: """
            Starts a temporary store in a temporary folder and makes one purchase. It shows each \
            HTTP request, each event as it crosses the broker, each row of the ledger, the \
            receipt, the delivery and the finish. Then it audits the books.

            With --story subscription it shows the life of a subscription instead: bought, renewed, \
            upgraded, not paid, recovered, cancelled, lapsed. The store's clock is advanced.

            With --store it buys on a store that is already running, such as that of \
            docker-compose.yml. It uses HTTP alone and shows what an app sees. It needs the \
            token of an account in an app that the store knows:

              export ACCOUNT_TOKEN=$(docker compose run --rm -T operator \\
                token account --account ada)
              devstore demo --store http://localhost:8080
            """
    )

    @Option(help: "Buy on this running store instead: the URL that all its services share.")
    var store: String?

    @Option(help: "What to show on a temporary store.")
    var story = Story.purchase

    func validate() throws {
        if store != nil, story != .purchase {
            throw ValidationError("--story \(story.rawValue) needs a store of its own: no --store.")
        }
    }

    func run() async throws {
        let terminal = Terminal()
        try await terminal.perform {
            if let store {
                try await Self.tell(terminal, of: store)
            } else {
                try await Self.tell(story, terminal)
            }
        }
    }

    /// Makes the purchase on a store that is already running.
    private static func tell(_ terminal: Terminal, of store: String) async throws {
        let clock = ContinuousClock()
        let begin = clock.now
        guard let token = ProcessInfo.processInfo.environment["ACCOUNT_TOKEN"], !token.isEmpty
        else {
            throw ValidationError("ACCOUNT_TOKEN is not set: see 'devstore demo --help'.")
        }
        let origin = store.hasSuffix("/") ? String(store.dropLast()) : store
        let client = StoreClient(
            // The store reads the account from the token; this name is only printed.
            account: AccountID(unchecked: "ada"),
            urls: StoreURLs(
                catalog: origin,
                payments: origin,
                receipts: origin,
                fulfillment: origin
            ),
            token: token
        )
        try await RemoteStory(terminal: terminal, client: client).tell()
        terminal.line()
        terminal.line("The whole demonstration took \(Terminal.describe(clock.now - begin)).", .dim)
    }

    private static func tell(_ story: Story, _ terminal: Terminal) async throws {
        let clock = ContinuousClock()
        let begin = clock.now
        terminal.heading("A store for this \(story.rawValue)")
        var options = StoreOptions()
        options.processor = .sandbox
        options.database = .own
        options.fsync = true
        options.progress = terminal.progress
        if story == .subscription { options.settings = SubscriptionStory.settings }
        let isClean = try await withStore(options) { store in
            try await terminal.importSampleCatalog(into: store)
            switch story {
            case .purchase:
                var story = try DemoStory(terminal: terminal, store: store)
                return try await story.tell()
            case .subscription:
                var story = try SubscriptionStory(terminal: terminal, store: store)
                return try await story.tell()
            }
        }
        terminal.line()
        terminal.line("The whole demonstration took \(Terminal.describe(clock.now - begin)).", .dim)
        guard isClean else { throw ExitCode(1) }
    }
}
