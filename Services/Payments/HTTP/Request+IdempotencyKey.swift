import EventTypes
import HTTPTypes
import Hummingbird
import ServiceKit

extension Request {
    /// Made once, because every payment has this header.
    private static let idempotencyKeyName = HTTPField.Name("Idempotency-Key")

    /// Returns the request's `Idempotency-Key`, which is required.
    func requireIdempotencyKey() throws -> IdempotencyKey {
        guard let key = try idempotencyKey() else { throw HTTPProblem.idempotencyKeyMissing }
        return key
    }

    /// Returns the request's `Idempotency-Key`; `nil` if it has none.
    func idempotencyKey() throws -> IdempotencyKey? {
        guard let name = Self.idempotencyKeyName, let text = headers[name] else {
            return nil
        }
        guard let key = IdempotencyKey(rawValue: text) else {
            throw HTTPProblem.idempotencyKeyMalformed
        }
        guard !CardNumber.isIn(text) else { throw HTTPProblem.cardNumberInKey }
        return key
    }
}
