/// Repeats a query until there is an answer, instead of sleeping for a fixed time.
///
/// - Parameters:
///   - limit: The time limit. A minute is long enough even on a busy machine.
///   - pause: The rest between two tries. A try that starts a program deserves a longer one: it takes
///     processor time from what it waits for.
///   - what: A description of the expected result, for the error message.
///   - condition: Returns the answer, or `nil` while there is none. Its last error is part of the
///     error message. A ``StoreFault`` ends the loop immediately.
/// - Returns: The answer.
/// - Throws: ``HarnessError`` after the time limit, or ``StoreFault``.
@discardableResult
public func eventually<Answer>(
    within limit: Duration = .seconds(60),
    every pause: Duration = .milliseconds(20),
    _ what: String,
    _ condition: () async throws -> Answer?
) async throws -> Answer {
    let clock = ContinuousClock()
    let end = clock.now + limit
    var lastError: (any Error)?
    repeat {
        do {
            if let answer = try await condition() { return answer }
            lastError = nil
        } catch let fault as StoreFault {
            throw fault
        } catch {
            lastError = error
        }
        try await Task.sleep(for: pause)
    } while clock.now < end
    let because = lastError.map { "; the last try threw: \($0)" } ?? ""
    throw HarnessError("Waited \(limit) in vain for \(what)\(because).")
}
