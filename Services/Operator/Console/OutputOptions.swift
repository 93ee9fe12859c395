import ArgumentParser
import Foundation

/// The options for the form of a command's answer.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print the answer as JSON.")
    var json = false

    @Flag(help: "No colours; they appear on terminals only, and not with NO_COLOR or TERM=dumb.")
    var noColor = false

    /// The colours of standard output.
    var palette: Palette {
        Palette(
            isColoured: !noColor
                && Self.allowsColours(
                    isTerminal: isatty(STDOUT_FILENO) == 1,
                    ProcessInfo.processInfo.environment
                )
        )
    }

    /// Whether the environment of a process wants colours; see https://no-color.org.
    static func allowsColours(isTerminal: Bool, _ environment: [String: String]) -> Bool {
        isTerminal && environment["NO_COLOR", default: ""].isEmpty
            && !["dumb", ""].contains(environment["TERM", default: ""])
    }
}
