/// Asks again and again until there is an answer, instead of sleeping and hoping.
///
/// - Parameters:
///   - limit: How long to go on asking; a minute is long on a busy machine too.
///   - what: What is awaited, for the failure's message.
///   - condition: Returns the answer, or `nil` while there is none. What it throws the last time
///     is part of the failure's message; a ``StoreFault`` ends the asking at once.
/// - Returns: The answer.
/// - Throws: ``HarnessError`` when the time is up; ``StoreFault``.
@discardableResult
public func eventually<Answer>(
    within limit: Duration = .seconds(60),
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
        try await Task.sleep(for: .milliseconds(20))
    } while clock.now < end
    let because = lastError.map { "; the last try threw: \($0)" } ?? ""
    throw HarnessError("Waited \(limit) in vain for \(what)\(because).")
}
