import EventTypes
import OperatorCore
import StoreAPI

/// Reads the story of one transaction, with the transaction in all books.
struct StoryBooksReader: Sendable {
    let databases: DatabaseAddresses

    /// Reads the story.
    ///
    /// - Throws: ``OperatorError`` if there is no such transaction, or a database cannot be read.
    func story(
        of id: TransactionID,
        at now: StoreTime,
        _ machineTime: MachineTime
    ) async throws -> Story {
        guard
            var story = try await StoryReader(databases: databases)
                .story(of: id, at: now, machineTime)
        else {
            throw OperatorError(
                .failed,
                """
                payments knows no transaction \(id) (order \(OrderID(id))).
                For an account's purchases: counterfoil why ACCOUNT
                """
            )
        }
        let books = try await books(of: id)
        story.books = books
        story.differences = ReconcileRules.differences(in: books).map(\.answer)
        return story
    }

    /// Reads a transaction from all books, `payments` first.
    private func books(of id: TransactionID) async throws -> TransactionBooks {
        let empty = [id.number: TransactionBooks(id: id)]
        let known = try await DatabaseReader.read(databases.address(of: .payments)) {
            var books = empty
            try ReconcileStore.readPayments(into: &books, on: $0)
            return books
        }
        let signed = try await DatabaseReader.read(databases.address(of: .receipts)) {
            var books = known
            try ReconcileStore.readReceipts(into: &books, on: $0)
            return books
        }
        let queued = try await DatabaseReader.read(databases.address(of: .fulfillment)) {
            var books = signed
            try ReconcileStore.readQueue(into: &books, on: $0)
            return books
        }
        return queued[id.number] ?? TransactionBooks(id: id)
    }
}
