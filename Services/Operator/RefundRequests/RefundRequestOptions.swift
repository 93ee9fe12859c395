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

    @Option(help: "The number of the request (default: the newest).")
    var number: Int?

    /// Reads the request: that of the number, or the newest.
    func found() async throws -> (connection: StoreConnection, RefundRequestResponse) {
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
            guard let newest = all.requests.last else {
                throw OperatorError(
                    .failed,
                    "Nobody has asked for a refund of \(transaction)."
                )
            }
            number = newest.number
        }
        let answer = try await connection.send(
            .GET,
            Routes.adminRefundRequest(transaction, number),
            as: RefundRequestResponse.self
        )
        return (connection, answer)
    }

    /// Reads the merchant's report; `nil` if there is none, or if the token may not read it.
    func report() async throws -> ConsumptionInformation? {
        let connection = store.connection(
            to: .receipts,
            token: try await access.admin.token(
                keys: access.keys.directory,
                at: .now(),
                lifetime: .seconds(300)
            )
        )
        do {
            return try await connection.send(
                .GET,
                Routes.consumptionReport(transaction),
                as: ConsumptionInformation.self
            )
        } catch {
            guard [.failed, .refusedCredentials].contains(error.code) else { throw error }
            return nil
        }
    }

    /// Sends a decision and prints the request afterwards.
    func decide(
        _ decision: (Transaction) throws -> RefundDecisionRequest
    ) async throws {
        let (connection, before) = try await found()
        let answer = try await connection.send(
            .POST,
            Routes.refundDecision(transaction, before.request.number),
            .json(try decision(before.transaction)),
            as: RefundRequestResponse.self
        )
        try show(answer, nil)
    }

    /// Prints a request.
    func show(_ answer: RefundRequestResponse, _ report: ConsumptionInformation?) throws {
        if store.json {
            try Console.say(json: answer)
        } else {
            Console.say(RefundRequestReport.text(of: answer, report))
        }
    }

    /// Reads an amount in the currency of a purchase.
    static func money(_ text: String, of transaction: Transaction) throws -> Money {
        let currency = transaction.price.currency
        guard let money = Money(decimal: text, currency: currency) else {
            throw OperatorError(
                .usage,
                """
                \(text) is no amount in \(currency), which has \(currency.exponent) decimal \
                places. Write it with a point and without the currency.
                """
            )
        }
        return money
    }
}
