import EventTypes
import Foundation
import ServiceKit
import Stripe

extension StripeSettings {
    /// Reads the default account.
    ///
    /// Keys: `STRIPE_KEY_FILE` and `STRIPE_WEBHOOK_SECRETS_FILE`.
    static func firstAccount(_ reader: inout SettingsReader) -> StripeAccountSettings {
        let keyFile = reader.string(
            "STRIPE_KEY_FILE",
            default: "",
            "A file with the restricted key of the API; it is read again when it changes."
        )
        let webhookSecretsFile = reader.string(
            "STRIPE_WEBHOOK_SECRETS_FILE",
            default: "",
            "A file with the secrets of webhooks, one a line; it is read again when it changes."
        )
        return StripeAccountSettings(
            name: .default,
            keyFile: keyFile,
            webhookSecretsFile: webhookSecretsFile
        )
    }

    /// Reads the accounts besides the default one.
    ///
    /// Keys: `STRIPE_ACCOUNTS` and `STRIPE_ACCOUNTS_DIRECTORY`.
    static func otherAccounts(_ reader: inout SettingsReader) -> [StripeAccountSettings] {
        let names = reader.string(
            "STRIPE_ACCOUNTS",
            default: "",
            "The merchant's other accounts at Stripe, by names of your choice: games,news."
        )
        let directory = reader.string(
            "STRIPE_ACCOUNTS_DIRECTORY",
            default: "",
            "A directory with <account>/key and <account>/webhook-secrets of each of them."
        )
        guard !names.isEmpty else { return [] }
        if directory.isEmpty {
            reader.refuse("STRIPE_ACCOUNTS_DIRECTORY", "is required with STRIPE_ACCOUNTS")
        }
        var accounts: [StripeAccountSettings] = []
        for part in names.split(separator: ",", omittingEmptySubsequences: false) {
            let text = part.trimmingCharacters(in: .whitespaces)
            guard ProcessorAccountName.isWellFormed(text),
                !accounts.contains(where: { $0.name.rawValue == text })
            else {
                reader.refuse(
                    "STRIPE_ACCOUNTS",
                    "holds '\(text)', which is there twice or is not \(ProcessorAccountName.form)"
                )
                continue
            }
            accounts.append(
                StripeAccountSettings(
                    name: ProcessorAccountName(rawValue: text),
                    keyFile: "\(directory)/\(text)/key",
                    webhookSecretsFile: "\(directory)/\(text)/webhook-secrets"
                )
            )
        }
        return accounts
    }

    /// Reads the accounts of the apps that do not use the default one.
    ///
    /// Key: `STRIPE_APPS`.
    static func apps(
        _ reader: inout SettingsReader,
        among accounts: [StripeAccountSettings]
    ) -> [BundleID: ProcessorAccountName] {
        let entries = reader.list(
            "STRIPE_APPS",
            default: [:],
            "The apps that do not use the default account at Stripe: com.acme.chess=games."
        )
        var apps: [BundleID: ProcessorAccountName] = [:]
        for (app, name) in named(entries, in: "STRIPE_APPS", &reader) {
            guard accounts.contains(where: { $0.name.rawValue == name }) else {
                reader.refuse(
                    "STRIPE_APPS",
                    "gives \(app) the account '\(name)', which is not in STRIPE_ACCOUNTS"
                )
                continue
            }
            apps[app] = ProcessorAccountName(rawValue: name)
        }
        return apps
    }

    /// Reads the addresses to which buyers come back from their bank's page.
    ///
    /// Keys: `STRIPE_RETURN_URL` and `STRIPE_RETURN_URLS`.
    static func returnURLs(_ reader: inout SettingsReader) -> ReturnURLs {
        let first = reader.string(
            "STRIPE_RETURN_URL",
            default: "",
            "The address of the app to which buyers come back from their bank's page."
        )
        let entries = reader.list(
            "STRIPE_RETURN_URLS",
            default: [:],
            "The apps with another address: com.acme.chess=https://chess.acme.com/back."
        )
        var apps: [BundleID: String] = [:]
        for (app, url) in named(entries, in: "STRIPE_RETURN_URLS", &reader) {
            guard URL(string: url)?.scheme != nil else {
                reader.refuse("STRIPE_RETURN_URLS", "gives \(app) '\(url)', which is no address")
                continue
            }
            apps[app] = url
        }
        return ReturnURLs(first: first, apps: apps)
    }

    /// The entries of a setting, by apps; those that name no app are refused.
    private static func named(
        _ entries: [String: String],
        in setting: String,
        _ reader: inout SettingsReader
    ) -> [(app: BundleID, value: String)] {
        entries.sorted { $0.key < $1.key }.compactMap { app, value in
            guard BundleID.isWellFormed(app) else {
                reader.refuse(setting, "names '\(app)', which is not \(BundleID.form)")
                return nil
            }
            return (BundleID(unchecked: app), value)
        }
    }

    /// Refuses files that are of no use, and a key that two accounts have.
    ///
    /// With one key for two names, the store would read one list twice.
    func checkAccounts(_ reader: inout SettingsReader, in environment: StoreEnvironment) {
        var names: [StripeKey: ProcessorAccountName] = [:]
        for account in accounts {
            let isDefault = account.name == .default
            let keySetting = isDefault ? "STRIPE_KEY_FILE" : "STRIPE_ACCOUNTS_DIRECTORY"
            do throws(SecretFileError) {
                let key = try account.key(in: environment).current
                if let other = names[key] {
                    reader.refuse(
                        keySetting,
                        "holds one key for the accounts \(other) and \(account.name)"
                    )
                }
                names[key] = account.name
            } catch {
                reader.refuse(keySetting, Self.problem(account.keyFile, error))
            }
            do throws(SecretFileError) { _ = try account.webhookCheck() } catch {
                reader.refuse(
                    isDefault ? "STRIPE_WEBHOOK_SECRETS_FILE" : "STRIPE_ACCOUNTS_DIRECTORY",
                    Self.problem(account.webhookSecretsFile, error)
                )
            }
        }
    }

    private static func problem(_ path: String, _ error: any Error) -> String {
        path.isEmpty
            ? "is required if PROCESSOR is stripe" : "names a file that cannot be used: \(error)"
    }
}
