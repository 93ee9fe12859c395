import ArgumentParser
import Foundation
import TestSupport

/// `devstore demo`: one purchase, told step by step.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Tells one purchase step by step, and exits.",
        discussion: """
            Starts a throw-away store in a temporary folder and buys once. Shown are each HTTP \
            request, each event as it crosses the broker, each row of the ledger, the receipt, the \
            delivery and the finish; then the books are audited.
            """
    )

    func run() async throws {
        let terminal = Terminal()
        try await terminal.perform {
            try await Self.tell(terminal)
        }
    }

    private static func tell(_ terminal: Terminal) async throws {
        let clock = ContinuousClock()
        let begin = clock.now
        terminal.heading("A store for this purchase")
        var options = StoreOptions()
        options.database = .own
        options.fsync = true
        options.progress = terminal.progress
        let isClean = try await withStore(options) { store in
            try await terminal.importSampleCatalog(into: store)
            var story = try DemoStory(terminal: terminal, store: store)
            return try await story.tell()
        }
        terminal.line()
        terminal.line("The whole demonstration took \(Terminal.describe(clock.now - begin)).", .dim)
        guard isClean else { throw ExitCode(1) }
    }
}
