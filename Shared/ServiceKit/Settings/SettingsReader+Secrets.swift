extension SettingsReader {
    /// Reads a text that must never be shown.
    ///
    /// It may stand in the variable itself or, where the environment can be seen by others, in a file
    /// that the variable `<key>_FILE` names. A file is read once; the line's end after it is dropped.
    ///
    /// - Parameters:
    ///   - key: The environment variable.
    ///   - default: What it is when not set; without one the setting is required.
    ///   - meaning: What it is for, in a sentence.
    /// - Returns: The text.
    public mutating func secret(
        _ key: String,
        default: String? = nil,
        _ meaning: String
    ) -> String {
        let value = secretValue(of: key, default: `default`, meaning)
        // An empty file was refused already, for a better reason.
        let isTold = problems.contains { $0.key == key + "_FILE" }
        if let value, value.isEmpty, `default` != "", !isTold {
            refuse(key, "is empty (\(meaning))")
        }
        return value ?? `default` ?? ""
    }

    /// Reads a list of names with values of which some may be secret: `name=value,name=value`, in the
    /// variable or in the file that `<key>_FILE` names.
    ///
    /// - Parameters:
    ///   - key: The environment variable.
    ///   - meaning: What it is for, in a sentence.
    /// - Returns: The values by name; none when not set.
    public mutating func secretList(_ key: String, _ meaning: String) -> [String: String] {
        guard let value = secretValue(of: key, default: "", meaning) else { return [:] }
        return entries(of: key, in: value) ?? [:]
    }
}
