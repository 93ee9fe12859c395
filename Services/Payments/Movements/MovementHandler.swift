import EventTypes
import Ledger
import Logging
import Messaging
import Postgres
import Stripe

/// Reads what moved at an account at Stripe into the store's tables, and posts it.
///
/// A movement is posted in the database transaction that writes it, so it is posted once, however
/// often it is read.
struct MovementHandler: Sendable {
    let client: PostgresClient
    let account: StripeAccount
    let ids: IDSource
    let now: @Sendable () -> MachineTime
    let storeNow: @Sendable () -> StoreTime
    let logger: Logger

    /// Reads on in the list, and then the balance.
    ///
    /// A store that has no place in it yet begins with its first transaction.
    ///
    /// - Parameter pause: The time until the next look.
    /// - Throws: `StripeFailure`; `PostgresError`. Then the next look begins with the part at which
    ///   this one has ended.
    func readList(pause: Duration) async throws {
        let reader = StripeListReader(
            client: client,
            now: now,
            list: .movements,
            account: account.name,
            overlap: .seconds(3600),
            window: .seconds(86_400)
        )
        let isRead = try await reader.read(
            pause: pause,
            beginningAt: { begin, connection in
                let first = try MovementStore.firstSale(on: connection).map {
                    MachineTime(millisecondsSinceEpoch: $0.millisecondsSinceEpoch)
                }
                return min(first ?? begin, begin)
            },
            storePage: { request in
                let page = try await account.gate.pass(.inquiries) {
                    () async throws(StripeFailure) in
                    try await account.client.balanceTransactions(request)
                }
                try await store(page.data.map { ProcessorMovement($0) })
                return page.hasMore ? page.data.last?.id : nil
            }
        )
        if isRead { try await readBalance() }
    }

    /// Writes what Stripe says of its balance, with which `counterfoil reconcile` compares the ledger.
    ///
    /// Stripe does not say up to which movement a balance goes. So it only counts if the newest
    /// movements of the list, read after it, were stored before it. Otherwise the next look finds out.
    private func readBalance() async throws {
        let number = try await client.withConnection { try MovementStore.newestNumber(on: $0) }
        let balance = try await account.gate.pass(.inquiries) { () async throws(StripeFailure) in
            try await account.client.balance()
        }
        let newest = try await account.gate.pass(.inquiries) { () async throws(StripeFailure) in
            try await account.client.balanceTransactions(StripeListRequest())
        }
        var totals: [Money] = []
        for total in balance.totals {
            do throws(ProcessorAmountError) {
                totals.append(try total.money())
            } catch {
                logger.error(
                    "A balance at Stripe cannot be compared with the ledger",
                    metadata: ["currency": "\(total.currency)", "error": "\(error)"]
                )
            }
        }
        let ids = ProcessorMovement.newest(of: newest.data.map { ProcessorMovement($0) })
        let time = now()
        try await client.withTransaction { [totals, name = account.name] connection in
            guard try MovementStore.areKnown(ids, of: name, upTo: number, on: connection)
            else { return }
            try MovementStore.save(totals, of: name, upTo: number, at: time, on: connection)
        }
    }

    /// Writes and posts movements that are new.
    func store(_ movements: [ProcessorMovement]) async throws {
        let (time, storeTime) = (now(), storeNow())
        try await client.withTransaction { connection in
            let numbers = try MovementStore.insert(
                movements,
                of: account.name,
                at: time,
                on: connection
            )
            var postings: [Posting] = []
            for movement in movements {
                guard let number = numbers[movement.id] else { continue }
                do throws(ProcessorAmountError) {
                    let posting = try movement.posting(
                        number: number,
                        id: ids.posting(at: storeTime),
                        at: storeTime
                    )
                    if let posting { postings.append(posting) }
                } catch {
                    logger.error(
                        "A movement at Stripe cannot be posted; correct the ledger by hand",
                        metadata: ["movement": "\(movement.id)", "error": "\(error)"]
                    )
                }
            }
            try LedgerStore.append(postings, on: connection)
        }
    }
}
