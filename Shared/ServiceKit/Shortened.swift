/// Cuts a text from outside to a length that is fit for an answer or a log line.
///
/// - Parameters:
///   - text: The text.
///   - length: The most code points that are kept. Characters would be no bound: one of them may
///     hold any number of combining marks.
/// - Returns: The text, or its beginning with an ellipsis behind it.
package func shortened(_ text: some StringProtocol, to length: Int = 120) -> String {
    let scalars = text.unicodeScalars
    let start = scalars.startIndex
    guard let end = scalars.index(start, offsetBy: length, limitedBy: scalars.endIndex),
        end < scalars.endIndex
    else { return String(text) }
    return String(text[..<end]) + "…"
}
