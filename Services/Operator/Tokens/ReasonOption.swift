import ArgumentParser
import EventTypes

/// The option for the reason of an act.
struct ReasonOption: ParsableArguments {
    @Option(
        help: "Why; the store keeps it with your name, and the buyer never sees it.",
        transform: Self.parse
    )
    var reason: ActReason?

    /// Reads a reason from the command line.
    ///
    /// - Throws: `ValidationError` with the form of a reason.
    static func parse(_ text: String) throws -> ActReason {
        guard let reason = ActReason(rawValue: text) else {
            throw ValidationError("--reason takes \(ActReason.form).")
        }
        return reason
    }
}
