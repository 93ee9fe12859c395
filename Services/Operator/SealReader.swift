import Messaging
import Postgres

/// Checks the seals of a service's logs, in a snapshot of its database.
enum SealReader {
    /// The logs of a service that are sealed.
    static func logs(of service: StoreOptions.Service) -> [SealedLog] {
        [.outbox]
    }

    /// Checks a service.
    ///
    /// - Parameters:
    ///   - address: Its database.
    ///   - expectations: Digests that its chains must pass through.
    /// - Returns: What is there and what is wrong.
    /// - Throws: ``OperatorError``.
    static func check(
        _ address: DatabaseAddress,
        expecting expectations: [SealCheck.Expectation]
    ) async throws -> SealReport {
        let check = SealCheck(logs: logs(of: address.service), expectations: expectations)
        do {
            return try await DatabaseReader.read(address) { connection in
                try check.run(on: connection)
            }
        } catch let error as MessagingError {
            throw OperatorError(.failed, "\(address.service.rawValue): \(error.message)")
        }
    }
}
