import HTTPTypes
import Hummingbird
import ServiceKit

extension Request {
    /// The key under which the request has one effect.
    func requireIdempotencyKey() throws -> String {
        guard let key = try idempotencyKey() else { throw HTTPProblem.idempotencyKeyMissing }
        return key
    }

    /// The key under which the request has one effect; `nil` if it names none.
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
