public import Configuration
import EventTypes
import Foundation

/// Reads a service's settings from environment variables.
///
/// The reader remembers every requested key and every problem, so that an operator sees all
/// problems at once. A bad value is never replaced by the default. If a value is missing or wrong,
/// the reader notes the problem and returns a harmless placeholder; ``check()`` then fails. Read
/// every setting first, call ``check()``, and only then use the values:
///
/// ```swift
/// let common = CommonSettings(&reader, service: .payments, defaultPort: 8082)
/// let attemptsMax = reader.integer("ATTEMPTS_MAX", default: 8, in: 1...100, "How often to try.")
/// try reader.check()
/// ```
public struct SettingsReader {
    /// All problems found so far.
    public private(set) var problems: [SettingsProblem] = []
    /// All keys requested so far, in that order.
    public private(set) var documented: [DocumentedSetting] = []
    /// Whether this reader only collects the documentation of the keys.
    public let isDescribing: Bool

    private let configuration: ConfigReader

    /// Makes a reader of environment variables.
    ///
    /// - Parameters:
    ///   - environment: The variables.
    ///   - isDescribing: Whether only to collect the keys, with placeholders for values.
    public init(environment: [String: String], isDescribing: Bool = false) {
        self.init(
            configuration: ConfigReader(
                provider: EnvironmentVariablesProvider(environmentVariables: environment)
            ),
            isDescribing: isDescribing
        )
    }

    /// Makes a reader over any configuration.
    public init(configuration: ConfigReader, isDescribing: Bool = false) {
        self.configuration = configuration
        self.isDescribing = isDescribing
    }

    /// Throws if there was any problem, and always in a reader that only describes.
    ///
    /// - Throws: ``ServiceKitError`` with the code `settings`.
    public func check() throws {
        guard problems.isEmpty, !isDescribing else {
            let text = problems.map { "\($0.key) \($0.problem)" }.joined(separator: "; ")
            throw ServiceKitError(.settings, text.isEmpty ? "settings were only described" : text)
        }
    }

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - key: The environment variable.
    ///   - default: The value if the variable is not set; without one the setting is required.
    ///   - meaning: The purpose of the setting, in a sentence.
    /// - Returns: The text.
    public mutating func string(
        _ key: String,
        default: String? = nil,
        _ meaning: String
    ) -> String {
        let value = value(of: key, default: `default`, meaning)
        if let value, value.isEmpty, `default` != "" {
            refuse(key, "is empty (\(meaning))")
        }
        return value ?? `default` ?? ""
    }

    /// Reads a whole number.
    ///
    /// - Parameters:
    ///   - key: The environment variable.
    ///   - default: The value if the variable is not set; without one the setting is required.
    ///   - range: The allowed values.
    ///   - meaning: The purpose of the setting, in a sentence.
    /// - Returns: The number.
    public mutating func integer(
        _ key: String,
        default: Int? = nil,
        in range: ClosedRange<Int>,
        _ meaning: String
    ) -> Int {
        let value = value(of: key, default: `default`.map { String($0) }, meaning)
        let placeholder = `default` ?? range.lowerBound
        guard let value else { return placeholder }
        guard let number = Int(value) else {
            refuse(key, "is \(quoted(value)), which is not a whole number")
            return placeholder
        }
        guard range.contains(number) else {
            refuse(key, "is \(number); it must be from \(range.lowerBound) to \(range.upperBound)")
            return placeholder
        }
        return number
    }

    /// Reads a duration, given as a whole number of milliseconds.
    ///
    /// - Parameters:
    ///   - key: The environment variable; its name ends in `_MS`.
    ///   - default: The value if the variable is not set; without one the setting is required.
    ///   - range: The allowed values.
    ///   - meaning: The purpose of the setting, in a sentence.
    /// - Returns: The duration.
    public mutating func milliseconds(
        _ key: String,
        default: Duration? = nil,
        in range: ClosedRange<Duration>,
        _ meaning: String
    ) -> Duration {
        .milliseconds(
            integer(
                key,
                default: `default`.map { Int($0.milliseconds) },
                in: Int(range.lowerBound.milliseconds)...Int(range.upperBound.milliseconds),
                meaning
            )
        )
    }

    /// Reads one of several fixed values.
    ///
    /// - Parameters:
    ///   - key: The environment variable.
    ///   - default: The value if the variable is not set; without one the setting is required.
    ///   - meaning: The purpose of the setting, in a sentence. The values are added to it.
    /// - Returns: The value.
    public mutating func choice<T: CaseIterable & RawRepresentable<String>>(
        _ key: String,
        default: T?,
        _ meaning: String
    ) -> T {
        let words = T.allCases.map(\.rawValue).joined(separator: ", ")
        let value = value(of: key, default: `default`?.rawValue, "\(meaning) One of: \(words).")
        guard let placeholder = `default` ?? T.allCases.first else {
            preconditionFailure("A choice has at least one word.")
        }
        guard let value else { return placeholder }
        guard let choice = T(rawValue: value) else {
            refuse(key, "is \(quoted(value)); it must be one of: \(words)")
            return placeholder
        }
        return choice
    }

    /// Reads a list of named values: `name=value,name=value`.
    ///
    /// - Parameters:
    ///   - key: The environment variable.
    ///   - default: The values if the variable is not set.
    ///   - meaning: The purpose of the setting, in a sentence.
    /// - Returns: The values by name.
    public mutating func list(
        _ key: String,
        default: [String: String],
        _ meaning: String
    ) -> [String: String] {
        let text = `default`.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            .joined(separator: ",")
        guard let value = value(of: key, default: text, meaning) else { return `default` }
        return entries(of: key, in: value) ?? `default`
    }

    /// The entries of a list; `nil`, with a problem noted, if the text is not a list.
    mutating func entries(of key: String, in value: String) -> [String: String]? {
        var entries: [String: String] = [:]
        for entry in value.split(separator: ",") {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].trimmingCharacters(in: .whitespaces)
            guard parts.count == 2, !name.isEmpty else {
                refuse(key, "holds an entry that is not name=value")
                return nil
            }
            entries[name] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return entries
    }

    /// Reads the file that the setting names.
    ///
    /// - Parameters:
    ///   - key: The environment variable that contains the path.
    ///   - default: The path if the variable is not set; without one the setting is required.
    ///   - meaning: The purpose of the file, in a sentence.
    /// - Returns: The contents of the file.
    public mutating func file(
        _ key: String,
        default: String? = nil,
        _ meaning: String
    ) -> [UInt8] {
        guard let path = value(of: key, default: `default`, "\(meaning) A path."), !path.isEmpty,
            !isDescribing
        else { return [] }
        do {
            return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            refuse(key, unreadable(path, error))
            return []
        }
    }

    /// Notes a problem that only the caller can see, such as two settings that exclude each other.
    ///
    /// - Parameters:
    ///   - key: The environment variable.
    ///   - problem: The problem, as the rest of a sentence that begins with the key.
    public mutating func refuse(_ key: String, _ problem: String) {
        guard !isDescribing else { return }
        problems.append(SettingsProblem(key: key, problem: problem))
    }

    /// The value of the variable or the default; `nil`, with a problem noted, if there is neither.
    private mutating func value(
        of key: String,
        default: String?,
        _ meaning: String
    ) -> String? {
        let value = configuration.string(forKey: ConfigKey(key))
        documented.append(
            DocumentedSetting(key: key, defaultValue: `default`, value: value, meaning: meaning)
        )
        if value == nil, `default` == nil {
            refuse(key, "is required: \(meaning)")
        }
        return value ?? `default`
    }

    /// The secret in the variable, or in the file that the variable's `_FILE` form names.
    ///
    /// The result is `nil` if there is neither, with a problem noted if the secret is required.
    mutating func secretValue(of key: String, default: String?, _ meaning: String) -> String? {
        let fileKey = key + "_FILE"
        let value = configuration.string(forKey: ConfigKey(key), isSecret: true)
        let path = configuration.string(forKey: ConfigKey(fileKey))
        documented.append(
            DocumentedSetting(
                key: key,
                defaultValue: `default`.map { $0.isEmpty ? $0 : "<redacted>" },
                value: value.map { _ in "<redacted>" },
                meaning: meaning
            )
        )
        documented.append(
            DocumentedSetting(
                key: fileKey,
                defaultValue: "",
                value: path,
                meaning: "A file that holds \(key), instead of it. A path."
            )
        )
        guard let path, !path.isEmpty else {
            if value == nil, `default` == nil {
                refuse(key, "is required, or \(fileKey): \(meaning)")
            }
            return value
        }
        guard value == nil else {
            refuse(fileKey, "is set, and \(key) too; set one of them")
            return nil
        }
        guard !isDescribing else { return nil }
        return contents(ofFile: path, for: fileKey).map { text in
            if text.isEmpty { refuse(fileKey, "names an empty file: \(quoted(path))") }
            return text
        }
    }

    /// The text of a file, without the trailing newline that editors add.
    private mutating func contents(ofFile path: String, for key: String) -> String? {
        do {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            return String(decoding: bytes, as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        } catch {
            refuse(key, unreadable(path, error))
            return nil
        }
    }

    private func unreadable(_ path: String, _ error: any Error) -> String {
        let reason = (error as NSError).localizedDescription
        return "names a file that cannot be read: \(quoted(path)) (\(reason))"
    }

    private func quoted(_ value: String) -> String {
        "\"\(shortened(value, to: 60))\""
    }
}

/// A problem with one setting.
public struct SettingsProblem: Hashable, Sendable {
    /// The environment variable.
    public let key: String
    /// The problem, as the rest of a sentence that begins with the key.
    public let problem: String
}

/// One setting, as `<service> settings` shows it.
public struct DocumentedSetting: Hashable, Sendable {
    /// The environment variable.
    public let key: String
    /// The value if the variable is not set; `nil` if the setting is required.
    ///
    /// A secret is redacted.
    public let defaultValue: String?
    /// The value from the environment, if there is one.
    ///
    /// A secret is redacted.
    public let value: String?
    /// The purpose of the setting, in a sentence.
    public let meaning: String
}
