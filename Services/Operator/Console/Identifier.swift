import ArgumentParser
import EventTypes

/// Reads an identifier from the command line, for `transform:` of options and arguments.
///
/// - Throws: `ValidationError`, which tells the form it must have and ends in the usage message.
func identifier<Value: Identifier>(_ text: String) throws -> Value {
    guard let identifier = Value(rawValue: text) else {
        throw ValidationError("'\(text)' is not \(Value.form).")
    }
    return identifier
}
