import ArgumentParser
import EventTypes
import Subscriptions

/// The options of an extension: its days, its reason, and the key under which it is made once.
struct ExtensionOptions: ParsableArguments {
    @OptionGroup var why: ReasonOption

    @Option(help: "The number of days, from 1 to \(RequestedExtension.daysMax).")
    var days: Int

    @Option(
        help: "The key under which the extension is made once (default: a new one).",
        transform: identifier
    )
    var key: IdempotencyKey?

    func validate() throws {
        guard (1...RequestedExtension.daysMax).contains(days) else {
            throw ValidationError("--days must be from 1 to \(RequestedExtension.daysMax).")
        }
    }

    /// Sends the extension under its key.
    ///
    /// - Parameter send: Sends the request with a key.
    /// - Throws: `OperatorError`, which names the key if the answer may be lost.
    func underKey(_ send: (IdempotencyKey) async throws -> Void) async throws {
        try await sendOnce(under: key, "it extends once", send)
    }
}
