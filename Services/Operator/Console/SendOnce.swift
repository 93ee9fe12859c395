import EventTypes
import Foundation
import OperatorCore

/// Sends a request under a key, so that it can be repeated if its answer is lost.
///
/// - Parameters:
///   - key: The key that was named; `nil` makes one.
///   - promise: The promise for a repetition, such as "it extends once".
///   - send: Sends the request with a key.
/// - Throws: `OperatorError`, which names the key if the answer may be lost; the errors of `send`.
func sendOnce(
    under key: IdempotencyKey?,
    _ promise: String,
    _ send: (IdempotencyKey) async throws -> Void
) async throws {
    try await askOnce(under: key, promise, send)
}

/// Sends a request under a key, as ``sendOnce(under:_:_:)`` does, and returns the answer.
func askOnce<Answer>(
    under key: IdempotencyKey?,
    _ promise: String,
    _ send: (IdempotencyKey) async throws -> Answer
) async throws -> Answer {
    let key = key ?? IdempotencyKey(unchecked: UUID().uuidString)
    do {
        return try await send(key)
    } catch let error as OperatorError where error.code == .unavailable {
        throw OperatorError(
            .unavailable,
            "\(error) Repeat the command with --key \(key): \(promise)."
        )
    }
}
