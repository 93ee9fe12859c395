import HTTPTypes
import Hummingbird
import ServiceKit

extension Request {
    /// Returns the request's `Idempotency-Key`, which is required.
    func requireIdempotencyKey() throws -> String {
        guard let key = try idempotencyKey() else { throw HTTPProblem.idempotencyKeyMissing }
        return key
    }

    /// Returns the request's `Idempotency-Key`; `nil` if it has none.
    func idempotencyKey() throws -> String? {
        guard let name = HTTPField.Name("Idempotency-Key"), let key = headers[name] else {
            return nil
        }
        guard (1...255).contains(key.utf8.count),
            key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw HTTPProblem.idempotencyKeyMalformed }
        return key
    }
}
