import Callbacks
import Logging

/// The Swift code of `Callbacks.md`, compiled; `SnippetTests` in TidyTests compares the two.
private struct SenderSnippet<Webhooks: OutgoingCalls> {
    let webhooks: Webhooks
    let logger: Logger

    func send() {
        let sender = CallbackSender(calls: webhooks, limits: CallbackLimits(), logger: logger)
        // A service beside the others; after a commit that added rows:
        sender.wake()
    }
}
