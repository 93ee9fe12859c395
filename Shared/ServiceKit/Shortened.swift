/// Cuts a text from outside to a length that suits an answer or a log line.
///
/// - Parameters:
///   - text: The text.
///   - length: The largest number of code points to keep. A number of characters would be no bound,
///     because a character may have any number of combining marks.
/// - Returns: The text, or its beginning with an ellipsis.
package func shortened(_ text: some StringProtocol, to length: Int = 120) -> String {
    let scalars = text.unicodeScalars
    let start = scalars.startIndex
    guard let end = scalars.index(start, offsetBy: length, limitedBy: scalars.endIndex),
        end < scalars.endIndex
    else { return String(text) }
    return String(text[..<end]) + "…"
}
