import ArgumentParser
import EventTypes

/// The option for the reason of an act.
struct ReasonOption: ParsableArguments {
    @Option(
        help: "Why; the store keeps it with your name, and the buyer never sees it.",
        transform: ReasonOption.reason
    )
    var reason: ActReason?

    private static func reason(_ text: String) throws -> ActReason {
        guard let reason = ActReason(rawValue: text) else {
            throw ValidationError("--reason takes \(ActReason.form).")
        }
        return reason
    }
}
