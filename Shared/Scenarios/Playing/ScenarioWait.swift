/// The time for which a run waits for something.
struct ScenarioWait: Sendable {
    /// The longest wait.
    let limit: Duration

    private static let pause = Duration.milliseconds(25)

    /// Asks again and again until there is a value.
    ///
    /// - Parameters:
    ///   - what: A description for the error message, such as `"'coins' to be purchased"`.
    ///   - body: Returns the value, or `nil` if there is none yet.
    /// - Returns: The value.
    /// - Throws: ``StepFailure`` after the time limit, or an error of the body.
    func until<Value>(
        _ what: @autoclosure () -> String,
        _ body: () async throws -> Value?
    ) async throws -> Value {
        let deadline = ContinuousClock.now + limit
        while true {
            if let value = try await body() { return value }
            guard ContinuousClock.now < deadline else {
                throw StepFailure("waited \(limit) for \(what())")
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Asks again and again until something is so, or until a time is over.
    ///
    /// - Parameters:
    ///   - patience: The longest wait, which is no error.
    ///   - isSo: Returns whether it is so.
    /// - Throws: An error of the closure.
    func upTo(_ patience: Duration, until isSo: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + patience
        while try await !isSo(), ContinuousClock.now < deadline {
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Asks again and again until there is a value, as long as there is progress.
    ///
    /// - Parameters:
    ///   - what: A description for the error message.
    ///   - body: Returns the value, or `nil` if there is none yet, and how far the store is.
    /// - Returns: The value.
    /// - Throws: ``StepFailure`` if there is no progress for the time limit, or an error of the body.
    func whileProgressing<Value, Progress: Equatable>(
        _ what: @autoclosure () -> String,
        _ body: () async throws -> (value: Value?, progress: Progress)
    ) async throws -> Value {
        var last: Progress?
        while true {
            let reached = last
            let (value, progress) = try await until(what()) { () -> (Value?, Progress)? in
                let state = try await body()
                return state.value != nil || state.progress != reached ? state : nil
            }
            if let value { return value }
            last = progress
            try await Task.sleep(for: Self.pause)
        }
    }
}
