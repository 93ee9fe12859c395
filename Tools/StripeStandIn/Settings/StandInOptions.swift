/// The settings of a stand-in.
package struct StandInOptions: Sendable {
    /// The place that webhooks are sent to.
    package struct Webhooks: Sendable {
        /// The addresses; each try goes to the next one.
        package var urls: [String]
        /// The kinds of events that are sent, as one chooses them at Stripe; empty for all.
        package var types: Set<String> = []
        /// The secrets; every webhook is signed with each of them.
        package var secrets: [String]
        /// The pause before a webhook that was not taken is sent again; it doubles each time.
        package var retryPause = Duration.milliseconds(100)
        /// The number of times that a webhook is sent at most.
        package var triesMax = 8
        /// Whether every webhook is sent twice.
        package var isDoubled = false
        /// Whether webhooks that are due together are sent newest first.
        package var isReversed = false
        /// The seconds by which the time of the signature is too old.
        package var age: Int64 = 0

        /// Makes a place.
        package init(urls: [String], secrets: [String]) {
            self.urls = urls
            self.secrets = secrets
        }
    }

    /// The name of the account, for the controls.
    package var name = "default"
    /// The secret keys of the account; empty for every test key.
    package var keys: Set<String> = []
    /// The further accounts at the same address, which have no ports of their own.
    ///
    /// If there are any, each account needs keys and a series of its own.
    package var others: [StandInOptions] = []
    /// The port, on the loopback address; 0 takes a free one.
    package var port = 0
    /// The time for which an idempotency key is known: at Stripe at least 24 hours.
    package var keyLifetime = Duration.seconds(24 * 3600)
    /// The seconds after which what is processed succeeds by itself: payments and refunds.
    ///
    /// Without it they wait until they are ended.
    package var processingSeconds: Int64?
    /// The text in every id, so that two accounts have no id in common.
    package var series = "standin"
    /// The place that webhooks are sent to, if there is one.
    package var webhooks: Webhooks?

    /// Makes the usual settings.
    package init() {}
}
