import ArgumentParser
import EventTypes

/// Reads an identifier from the command line, for `transform:` of options and arguments.
///
/// - Throws: `ValidationError`, which describes the required form and is shown with the usage.
func identifier<Value: Identifier>(_ text: String) throws -> Value {
    guard let identifier = Value(rawValue: text) else {
        throw ValidationError("'\(text)' is not \(Value.form).")
    }
    return identifier
}
