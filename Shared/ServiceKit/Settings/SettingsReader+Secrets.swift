extension SettingsReader {
    /// Reads a text that must never be shown.
    ///
    /// The text is the value of the variable itself. If others can see the environment, it can
    /// instead be in a file that the variable `<key>_FILE` names. The file is read once, without
    /// its trailing newline.
    ///
    /// - Parameters:
    ///   - key: The environment variable.
    ///   - default: The value if the variable is not set; without one the setting is required.
    ///   - meaning: The purpose of the setting, in a sentence.
    /// - Returns: The text.
    public mutating func secret(
        _ key: String,
        default: String? = nil,
        _ meaning: String
    ) -> String {
        let value = secretValue(of: key, default: `default`, meaning)
        // An empty file has already been refused, with a better reason.
        let isTold = problems.contains { $0.key == key + "_FILE" }
        if let value, value.isEmpty, `default` != "", !isTold {
            refuse(key, "is empty (\(meaning))")
        }
        return value ?? `default` ?? ""
    }

    /// Reads a list of named values, some of which may be secret: `name=value,name=value`, in the
    /// variable or in the file that `<key>_FILE` names.
    ///
    /// - Parameters:
    ///   - key: The environment variable.
    ///   - meaning: The purpose of the setting, in a sentence.
    /// - Returns: The values by name; none if the variable is not set.
    public mutating func secretList(_ key: String, _ meaning: String) -> [String: String] {
        guard let value = secretValue(of: key, default: "", meaning) else { return [:] }
        return entries(of: key, in: value) ?? [:]
    }
}
