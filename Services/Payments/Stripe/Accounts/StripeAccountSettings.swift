import EventTypes
import Stripe

/// The settings of one account at Stripe.
struct StripeAccountSettings: Hashable, Sendable {
    let name: ProcessorAccountName
    /// The file of the key of the API.
    let keyFile: String
    /// The file of the secrets of webhooks, one a line.
    let webhookSecretsFile: String

    /// Opens the file of the key.
    ///
    /// - Throws: `SecretFileError` if there is no key in it that fits the environment.
    func key(in environment: StoreEnvironment) throws(SecretFileError) -> SecretFile<StripeKey> {
        try SecretFile(path: keyFile) { try StripeKey($0, environment: environment) }
    }

    /// Opens the file of the secrets of webhooks.
    ///
    /// - Throws: `SecretFileError` if there is none in it.
    func webhookCheck() throws(SecretFileError) -> SecretFile<StripeSignatureCheck> {
        try SecretFile(path: webhookSecretsFile) { try StripeSignatureCheck(lines: $0) }
    }
}
