import ArgumentParser
import EventTypes

/// Reads a time of the store from the command line, for `transform:` of options.
///
/// - Throws: `ValidationError`, which shows the form of a time.
func moment(_ text: String) throws -> StoreTime {
    guard let time = StoreTime(text) else {
        throw ValidationError("'\(text)' is not a time in UTC such as 2026-11-21T14:00:00Z.")
    }
    return time
}
