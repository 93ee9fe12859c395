import ArgumentParser
import ClockAndIDs
import EventTypes
import Foundation
import NIOHTTP1
import OperatorCore
import StoreAPI

/// The options and requests that the commands on one request for a refund share.
struct RefundRequestOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions
    @OptionGroup var access: SubscriptionAccess

    @Argument(help: "The transaction's id.", transform: identifier)
    var transaction: TransactionID

    @Option(help: "The number of the request; a decision needs it if there are several.")
    var number: Int?

    /// Reads the request: that of the number, the newest, or for a decision the only one.
    func found(
        toDecide isDecision: Bool = false
    ) async throws -> (connection: StoreConnection, RefundRequestResponse) {
        let connection = try await access.connection(of: store)
        let number: Int
        if let named = self.number {
            number = named
        } else {
            let all = try await connection.send(
                .GET,
                Routes.adminRefundRequests,
                StoreConnection.Content(query: [("transactionID", transaction.rawValue)]),
                as: RefundRequestsResponse.self
            )
            number = try Self.number(
                among: all.requests,
                of: transaction,
                toDecide: isDecision
            )
        }
        let answer = try await connection.send(
            .GET,
            Routes.adminRefundRequest(transaction, number),
            as: RefundRequestResponse.self
        )
        return (connection, answer)
    }

    /// Returns the number of the request that a command without a number means.
    ///
    /// A decision means the only one. If it meant the newest, a repeated command could decide a
    /// request that came after the lost answer.
    static func number(
        among requests: [RequestedRefund],
        of transaction: TransactionID,
        toDecide isDecision: Bool
    ) throws(OperatorError) -> Int {
        guard let newest = requests.last else {
            throw OperatorError(.failed, "Nobody has asked for a refund of \(transaction).")
        }
        guard !isDecision || requests.count == 1 else {
            throw OperatorError(.usage, "There are several requests; name one with --number.")
        }
        return newest.number
    }

    /// Reads the merchant's report.
    ///
    /// - Returns: The report; `nil` if there is none, or if the token may not read it. A failure is
    ///   the reason why nobody knows of one.
    /// - Throws: `OperatorError` if no token can be made.
    func report() async throws -> Result<ConsumptionInformation?, OperatorError> {
        let connection = store.connection(
            to: .receipts,
            token: try await access.admin.token(
                keys: access.keys.directory,
                at: .now(),
                lifetime: .seconds(300)
            )
        )
        do {
            return .success(
                try await connection.send(
                    .GET,
                    Routes.consumptionReport(transaction),
                    as: ConsumptionInformation.self
                )
            )
        } catch {
            return [403, 404].contains(error.status) ? .success(nil) : .failure(error)
        }
    }

    /// Sends a decision and prints the request afterwards.
    func decide(
        _ decision: (Transaction) throws -> RefundDecisionRequest
    ) async throws {
        let (connection, before) = try await found(toDecide: true)
        let answer = try await connection.send(
            .POST,
            Routes.refundDecision(transaction, before.request.number),
            .json(try decision(before.transaction)),
            as: RefundRequestResponse.self
        )
        try show(answer)
    }

    /// Prints a request.
    func show(
        _ answer: RefundRequestResponse,
        _ report: Result<ConsumptionInformation?, OperatorError> = .success(nil)
    ) throws {
        if store.json {
            try Console.say(json: answer)
        } else {
            Console.say(RefundRequestReport.text(of: answer, report))
        }
    }
}
