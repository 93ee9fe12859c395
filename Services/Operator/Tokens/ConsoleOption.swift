import ArgumentParser
import Foundation

/// The option for the address of the console.
struct ConsoleOption: ParsableArguments {
    @Option(
        help: "The console's address (or COUNTERFOIL_CONSOLE_URL; default http://127.0.0.1:8086)."
    )
    var consoleURL: String?

    /// The address, without a slash at its end.
    var url: String {
        var url =
            consoleURL ?? ProcessInfo.processInfo.environment["COUNTERFOIL_CONSOLE_URL"]
            ?? "http://127.0.0.1:8086"
        while url.hasSuffix("/") { url.removeLast() }
        return url
    }
}
