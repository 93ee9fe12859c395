import StoreHarness

/// The times that buyers waited for answers, and the answers that no client should ever get.
struct ChaosAnswers: Sendable {
    /// The outcome of a request.
    enum Outcome: Sendable {
        case status(Int, code: String?)
        /// No answer came within the client's deadline, or the connection was refused or lost.
        case noAnswer
    }

    /// The times until an answer.
    private(set) var answered: [Duration] = []
    /// The times until a client gave up or lost its connection.
    private(set) var unanswered: [Duration] = []
    /// The number of answers that asked a client to try again, by status.
    private(set) var refused: [Int: Int] = [:]
    /// The answers that are failures of the store, with their numbers.
    private(set) var failures: [String: Int] = [:]

    /// Whether a status means that the store is broken.
    ///
    /// The statuses that ask a client to try again (502, 503 and 504) are what a store without its
    /// database should answer.
    static func isFailure(_ status: Int) -> Bool {
        status >= 500 && ![502, 503, 504].contains(status)
    }

    /// Records the outcome of a request.
    ///
    /// - Parameters:
    ///   - request: The name of the request.
    ///   - instance: The instance that was asked.
    ///   - outcome: The outcome.
    ///   - time: The duration.
    mutating func note(
        _ request: String,
        of instance: String,
        _ outcome: Outcome,
        after time: Duration
    ) {
        switch outcome {
        case .noAnswer:
            unanswered.append(time)
        case .status(let status, let code):
            answered.append(time)
            if Self.isFailure(status) {
                let what = "\(request) at \(instance): \(status) \(code ?? "")"
                failures[what, default: 0] += 1
            } else if status >= 500 {
                refused[status, default: 0] += 1
            }
        }
    }

    /// All failures in one line, most frequent first; `nil` if there are none.
    var complaint: String? {
        guard !failures.isEmpty else { return nil }
        let list = failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.value) × \($0.key)" }
        return "answers that are failures of the store: " + list.joined(separator: "; ")
    }

    /// Prints the times.
    func tell(_ terminal: Terminal) {
        terminal.field("answers", Self.describe(answered))
        terminal.field("no answer", Self.describe(unanswered))
        for (status, count) in refused.sorted(by: { $0.key < $1.key }) {
            terminal.field("try again", "\(count) × \(status)")
        }
        for (failure, count) in failures.sorted(by: { $0.key < $1.key }) {
            terminal.field("failure", "\(count) × \(failure)", .red)
        }
    }

    private static func describe(_ times: [Duration]) -> String {
        guard let longest = times.max() else { return "0" }
        let median = times.sorted()[times.count / 2]
        return "\(Terminal.describe(times.count)), half of them within "
            + "\(Terminal.describe(median)), the longest \(Terminal.describe(longest))"
    }
}

/// The longest time without a finished purchase during the faults.
struct LongestSilence: Sendable {
    private let begin: ContinuousClock.Instant
    private var last: ContinuousClock.Instant
    /// Its beginning, from the start of the strikes.
    private(set) var start = Duration.zero
    /// Its length.
    private(set) var length = Duration.zero

    init(begin: ContinuousClock.Instant) {
        self.begin = begin
        last = begin
    }

    /// Records that a purchase was finished, or that the strikes are over.
    mutating func end(at time: ContinuousClock.Instant) {
        if time - last > length {
            length = time - last
            start = last - begin
        }
        last = max(last, time)
    }
}
