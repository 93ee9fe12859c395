import OperatorCore

/// The words of the services and of the readers of their books, as a page says them.
extension ConsoleProblem {
    /// The failure of something that was only read.
    ///
    /// A database that refuses the console, or that this version cannot read, is as good as away.
    init(reading error: OperatorError) {
        let words = PlainWords.withoutCommands(PlainWords.firstLine(error.description))
        switch error.status {
        case let status? where [401, 403].contains(status):
            self.init(403, "The store refuses this", words)
        case 404: self.init(404, "The store does not have this", words)
        case let status? where (400..<500).contains(status) && status != 429:
            self.init(status, "The store refuses this", words)
        default: self.init(503, "A part of the store is away", "\(words) Try again in a moment.")
        }
    }

    /// The refusal of an act.
    init(refusal error: OperatorError) {
        let words = PlainWords.withoutCommands(error.description)
        switch error.code {
        case .refusedCredentials: self.init(403, "The store refuses this", words)
        default: self.init(error.status ?? 409, "The store refuses this", words)
        }
    }
}
