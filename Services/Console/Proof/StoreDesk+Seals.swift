import OperatorCore

/// The seals of the logs, from the databases of all services.
extension StoreDesk {
    /// The newest seal of each month of each log, in the order of the services.
    ///
    /// - Throws: `OperatorError` if a database cannot be read.
    func sealHeads() async throws -> [SealHead] {
        var heads: [SealHead] = []
        for service in OperatedService.allCases {
            heads += try await SealReader.heads(databases.address(of: service))
        }
        return heads
    }
}
