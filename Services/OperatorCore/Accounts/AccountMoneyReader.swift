package import EventTypes

/// Reads the money of some purchases, such as those on a page of an account, from the database of
/// `payments`.
package struct AccountMoneyReader: Sendable {
    private let databases: DatabaseAddresses

    /// Makes a reader.
    package init(databases: DatabaseAddresses) {
        self.databases = databases
    }

    /// Reads the money of some purchases.
    ///
    /// - Returns: The money; it is empty if there are no purchases.
    /// - Throws: `OperatorError` if the database cannot be read.
    package func money(of ids: [TransactionID]) async throws -> AccountMoney {
        guard !ids.isEmpty else { return AccountMoney(purchases: [:], sums: []) }
        return try await DatabaseReader.read(databases.address(of: .payments)) {
            try AccountMoneyStore.money(of: ids, on: $0)
        }
    }
}
