package import EventTypes

/// Reads what an account has from the databases of `fulfillment` and `payments`.
package struct AccountHoldingsReader: Sendable {
    private let databases: DatabaseAddresses

    /// Makes a reader.
    package init(databases: DatabaseAddresses) {
        self.databases = databases
    }

    /// Whether somebody has set a condition for an account, it is in a family, or a purchase of it waits
    /// for the app.
    package func hasStanding(_ account: AccountID) async throws -> Bool {
        try await DatabaseReader.read(databases.address(of: .payments)) { connection in
            let standings = try AccountHoldingsStore.standings(of: account, on: connection)
            let intents = try AccountHoldingsStore.intents(of: account, on: connection)
            return !standings.isEmpty || !intents.isEmpty
        }
    }

    /// Reads what an account has at a time.
    ///
    /// - Returns: The holdings; they are empty if the store has never heard of the account.
    /// - Throws: `OperatorError` if a database cannot be read.
    package func holdings(
        of account: AccountID,
        at now: StoreTime
    ) async throws -> AccountHoldings {
        async let payments = DatabaseReader.read(databases.address(of: .payments)) { connection in
            (
                standings: try AccountHoldingsStore.standings(of: account, on: connection),
                intents: try AccountHoldingsStore.intents(of: account, on: connection)
            )
        }
        let (found, credits) = try await DatabaseReader.read(
            databases.address(of: .fulfillment)
        ) { connection in
            (
                try AccountHoldingsStore.owned(by: account, at: now, on: connection),
                try AccountHoldingsStore.balances(of: account, on: connection)
            )
        }
        let conditions = try await payments
        return AccountHoldings(
            owned: found.owned,
            isOwnedCut: found.isCut,
            balances: credits.balances,
            isBalancesCut: credits.isCut,
            standings: conditions.standings,
            intents: conditions.intents
        )
    }
}
