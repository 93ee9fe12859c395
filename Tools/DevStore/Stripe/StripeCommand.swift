import ArgumentParser
import Foundation
import Logging
import StoreHarness
import StripeStandIn

/// `devstore stripe`: runs the stand-in for Stripe, or tests it with Stripe's own library.
struct StripeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stripe",
        abstract: "Runs a stand-in for Stripe, or tests it with Stripe's own library.",
        discussion: """
            The stand-in behaves as Stripe documents, for the calls that a store makes. It takes \
            every test key, has test cards and faults, and keeps its own books. It has no database: \
            what it knows ends with it.

            With --account it has several accounts, each with books of its own, and then takes only \
            the keys that are named. Webhooks of an account go to <webhooks>/<name>, and are signed \
            with <secret>_<name>.

            With --check it runs Tests/StripeLibrary/run, which installs Stripe's library for \
            Python, prints a table and says whether every row is as expected. Exits with 1 if a \
            row is not.
            """
    )

    @Flag(help: "Call the stand-in with Stripe's own library, and end.")
    var check = false

    @Option(help: "The port on the loopback address.")
    var port = 12_111

    @Option(help: "The address that webhooks are sent to.")
    var webhooks: String?

    @Option(help: "The secret that webhooks are signed with.")
    var secret = "whsec_of_the_stand_in"

    @Option(help: "The secret key of the first account; without it, every test key.")
    var key: String?

    @Option(
        name: .customLong("account"),
        help: ArgumentHelp("A further account and its secret key.", valueName: "name=key")
    )
    var others: [String] = []

    func validate() throws {
        guard !check || webhooks == nil else {
            throw ValidationError("--check receives the webhooks itself.")
        }
        guard others.isEmpty || !check else {
            throw ValidationError("--check calls one account.")
        }
        guard others.isEmpty || key != nil else {
            throw ValidationError("--account needs --key.")
        }
        let accounts = try furtherAccounts()
        let names = accounts.map { $0.name }
        let keys = accounts.map { $0.key } + [key].compactMap(\.self)
        guard Set(names).count == names.count, Set(keys).count == keys.count else {
            throw ValidationError("Two accounts have one name or one key.")
        }
    }

    /// The accounts that `--account` names.
    private func furtherAccounts() throws -> [(name: String, key: String)] {
        try others.map { text in
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, parts[0] != StandInOptions().name,
                parts[0].wholeMatch(of: /[a-z][a-z0-9-]*/) != nil
            else { throw ValidationError("An account is a name, = and a key: games=rk_test_1.") }
            return (name: parts[0], key: parts[1])
        }
    }

    /// The settings of the stand-in, whose first account sends webhooks to an address.
    private func options(telling webhooks: String?) throws -> StandInOptions {
        var options = StandInOptions()
        options.port = check ? 0 : port
        options.keys = Set([key].compactMap(\.self))
        options.webhooks = webhooks.map {
            StandInOptions.Webhooks(urls: [$0], secrets: [secret])
        }
        options.others = try furtherAccounts().map { account in
            var other = StandInOptions()
            other.name = account.name
            other.keys = [account.key]
            // The text is in the middle of ids, where a hyphen would be strange.
            other.series = account.name.filter { $0 != "-" }
            other.webhooks = webhooks.map {
                StandInOptions.Webhooks(
                    urls: ["\($0)/\(account.name)"],
                    secrets: ["\(secret)_\(account.name)"]
                )
            }
            return other
        }
        return options
    }

    func run() async throws {
        let terminal = Terminal()
        let command = self
        do {
            let interrupted = try await Interruption.cancelling {
                try await command.serve(terminal)
            }
            if interrupted, check { throw ExitCode(130) }
        } catch let error as HarnessError {
            terminal.complain(error)
            throw ExitCode(1)
        }
    }

    private func serve(_ terminal: Terminal) async throws {
        let hookPort = try freePort()
        let url = check ? "http://127.0.0.1:\(hookPort)/" : webhooks
        let server = StandInServer(try options(telling: url))
        var logger = Logger(label: "stripe")
        logger.logLevel = .critical
        let (urls, running) = AsyncStream<String>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { [logger] group in
            group.addTask {
                defer { running.finish() }
                try await server.run(logger: logger) { running.yield($0) }
            }
            for await url in urls {
                terminal.heading("A stand-in for Stripe")
                terminal.field("address", url)
                for account in server.accounts.dropFirst() {
                    terminal.field("account", account.name)
                }
                guard check else { continue }
                let isAsExpected = try await Self.callLibrary(url, hookPort, secret)
                group.cancelAll()
                guard isAsExpected else { throw ExitCode(1) }
                return
            }
            try await group.waitForAll()
        }
    }

    /// Runs the script.
    ///
    /// - Returns: Whether every row had the expected result.
    private static func callLibrary(
        _ url: String,
        _ hookPort: Int,
        _ secret: String
    ) async throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: SourceTree.path("Tests/StripeLibrary/run"))
        process.arguments = [url, String(hookPort), secret]
        try process.run()
        return await Task.detached {
            process.waitUntilExit()
            return process.terminationStatus == 0
        }.value
    }
}
