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

    func validate() throws {
        guard !check || webhooks == nil else {
            throw ValidationError("--check receives the webhooks itself.")
        }
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
        var options = StandInOptions()
        options.port = check ? 0 : port
        let hookPort = try freePort()
        let url = check ? "http://127.0.0.1:\(hookPort)/" : webhooks
        options.webhooks = url.map { StandInOptions.Webhooks(urls: [$0], secrets: [secret]) }
        let server = StandInServer(options)
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
