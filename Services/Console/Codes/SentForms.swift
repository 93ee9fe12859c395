import Synchronization

/// The forms that were sent already, by a text that each of them carries.
///
/// A page that is loaded again sends its form again. What the service would do twice is refused
/// here.
final class SentForms: Sendable {
    /// The most texts in memory; beyond it, the oldest ones are forgotten.
    static let countMax = 1000

    private let texts = Mutex<[String]>([])

    /// Notes a form before its act.
    ///
    /// - Throws: ``ConsoleProblem`` if it was sent before, or carries no text.
    func begin(_ text: String?, back: ConsoleProblem.Back) throws(ConsoleProblem) {
        guard let text, !text.isEmpty else {
            throw ConsoleProblem(400, "The form cannot be read", "Nothing was done.", back: back)
        }
        let isNew = texts.withLock { texts in
            guard !texts.contains(text) else { return false }
            if texts.count >= Self.countMax { texts.removeFirst() }
            texts.append(text)
            return true
        }
        guard isNew else {
            throw ConsoleProblem(
                409,
                "Nothing was done: this form was sent before",
                "Look at what became of it. Open the page again to send another one.",
                back: back
            )
        }
    }

    /// Forgets a form whose act was refused, so that it can be mended and sent again.
    func forget(_ text: String?) { texts.withLock { texts in texts.removeAll { $0 == text } } }
}
