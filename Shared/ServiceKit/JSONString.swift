import EventTypes

/// The string as JSON writes it, quotes included.
///
/// The character U+007F, which JSON allows, is escaped too, because terminals act on it.
func jsonString(_ value: String) -> String {
    let text = PlainJSONText.string(value)
    return text.utf8.contains(0x7F) ? text.replacing("\u{7F}", with: #"\u007f"#) : text
}
