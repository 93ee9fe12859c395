import EventTypes
import Postgres

/// The comparisons for which the database of `payments` is enough.
///
/// Each reads in one database transaction.
struct PaymentsReconcileRunner: Sendable {
    /// The earliest time of the purchases to compare; `nil` for all.
    let since: StoreTime?
    /// The largest number of differences of a kind that are kept.
    let limit: Int

    /// Finds the charges on the processor's list that belong to no payment.
    func findUnknownCharges(
        _ books: ReconcileReader,
        _ end: StoreTime,
        _ report: inout ReconcileReport
    ) async throws {
        let (begin, limit) = (since ?? StoreTime(millisecondsSinceEpoch: 0), limit)
        let unknown = try await books.payments.reading { connection in
            try ReconcileListStore.unknownCharges(
                from: begin,
                until: end,
                limit: limit + 1,
                on: connection
            )
        }
        for charge in unknown {
            report.add(
                Difference(
                    kind: .chargeUnknown,
                    transactionID: nil,
                    subject: charge.reference,
                    detail: "\(charge.amount), \(charge.time)"
                        + ReconcileListStore.words(for: charge.account)
                )
            )
        }
    }

    /// Finds the movements at the processor that the ledger does not have.
    func findUnposted(
        _ books: ReconcileReader,
        _ report: inout ReconcileReport
    ) async throws {
        let (begin, limit) = (since ?? StoreTime(millisecondsSinceEpoch: 0), limit)
        let unposted = try await books.payments.reading { connection in
            try ReconcileListStore.unposted(from: begin, limit: limit + 1, on: connection)
        }
        for movement in unposted {
            report.add(
                Difference(
                    kind: .movementNotPosted,
                    transactionID: nil,
                    subject: movement.id,
                    detail: movement.detail
                )
            )
        }
    }

    /// Compares the processor's balance with the ledger's account of it.
    func compareBalances(
        _ books: ReconcileReader,
        _ report: inout ReconcileReport
    ) async throws {
        let differing = try await books.payments.reading { connection in
            try ReconcileListStore.differingBalances(on: connection)
        }
        for balance in differing {
            let time = balance.time.map { ", read at \($0)" } ?? ""
            let account = ReconcileListStore.words(for: balance.account)
            report.add(
                Difference(
                    kind: .balanceDiffers,
                    transactionID: nil,
                    subject: balance.told.currency.rawValue,
                    detail: """
                        \(balance.told) at the processor, \(balance.posted) in the \
                        ledger\(time)\(account)
                        """
                )
            )
        }
    }

    /// Compares offer codes with the payments that redeemed them.
    func compareRedemptions(
        _ books: ReconcileReader,
        _ report: inout ReconcileReport
    ) async throws {
        let limit = limit
        let found = try await books.payments.reading { connection in
            try ReconcileCodeStore.differences(limit: limit + 1, on: connection)
        }
        for difference in found {
            report.add(
                Difference(
                    kind: .redemptionDiffers,
                    transactionID: difference.transactionID,
                    subject: difference.campaign.map { "campaign \($0)" },
                    detail: difference.detail
                )
            )
        }
    }

    /// Compares buyers' requests for refunds with the refunds.
    func compareRequests(
        _ books: ReconcileReader,
        _ report: inout ReconcileReport
    ) async throws {
        let limit = limit
        let found = try await books.payments.reading { connection in
            try ReconcileRequestStore.differences(limit: limit + 1, on: connection)
        }
        Self.note(found, as: .refundDiffers, in: &report)
    }

    /// Compares the shares of families with the purchases of their members.
    func compareShares(
        _ books: ReconcileReader,
        at time: StoreTime,
        _ report: inout ReconcileReport
    ) async throws {
        let limit = limit
        let found = try await books.payments.reading { connection in
            try ReconcileFamilyStore.differences(at: time, limit: limit + 1, on: connection)
        }
        Self.note(found, as: .shareDiffers, in: &report)
    }

    private static func note(
        _ found: [(transactionID: TransactionID, detail: String)],
        as kind: Difference.Kind,
        in report: inout ReconcileReport
    ) {
        for (id, detail) in found {
            report.add(Difference(kind: kind, transactionID: id, detail: detail))
        }
    }
}
