import ArgumentParser
import EventTypes
import Foundation
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil refund-requests`: buyers' requests for refunds.
struct RefundRequestsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refund-requests",
        abstract: "Lists buyers' requests for refunds, and decides about them.",
        discussion: """
            A buyer asks in the app. For consumables and subscriptions that renew, the store asks \
            the merchant's server how much was used (CONSUMPTION_REQUEST). The server has 12 hours to \
            answer, and 'show' prints the answer. No request is decided without a person.

            The first decision counts. After a decline the buyer may ask again, up to ten times \
            for a purchase. If there are several requests, a decision names one with --number, so \
            that a repeated command never decides a newer request.

            Examples:
              counterfoil refund-requests list --state open
              counterfoil refund-requests show 2175520387220000
              counterfoil refund-requests approve 2175520387220000
              counterfoil refund-requests approve 2175520387220000 --number 2 --amount 1.50
              counterfoil refund-requests decline 2175520387220000 --reason "used up"
            """,
        subcommands: [
            ListRefundRequestsCommand.self, ShowRefundRequestCommand.self,
            ApproveRefundRequestCommand.self, DeclineRefundRequestCommand.self,
        ]
    )
}

/// `counterfoil refund-requests list`.
struct ListRefundRequestsCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists requests for refunds, the oldest first.",
        discussion: """
            --state failed lists approved requests whose refund the processor could not make. \
            Approve such a request again to try once more.

            JSON:
              {"requests": [{"transactionID", "number", "accountID", "bundleID",
               "productID", "productType", "reason", "requestedAt", "state",
               "decidedAt", "refundNumber"}]}
            """
    )

    @OptionGroup var store: StoreOptions
    @OptionGroup var access: SubscriptionAccess

    @Option(help: "List one state only: \(Self.states.joined(separator: ", ")).")
    var state: String?

    @Option(help: "The most requests to list.")
    var limit = 1000

    private static let states = RequestedRefund.State.all.map(\.rawValue) + ["failed"]

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be above 0.") }
        guard let state, !Self.states.contains(state) else { return }
        throw ValidationError(
            "'\(state)' is not a state: choose one of \(Self.states.joined(separator: ", "))."
        )
    }

    func perform() async throws {
        let connection = try await access.connection(of: store)
        let list = try await PagedList<RequestedRefund>(upTo: limit) { (next: String?) in
            var query: [(name: String, value: String)] = []
            if let state { query.append(("state", state)) }
            if let next { query.append(("after", next)) }
            let page = try await connection.send(
                .GET,
                Routes.adminRefundRequests,
                StoreConnection.Content(query: query),
                as: RefundRequestsResponse.self
            )
            return (page.requests, page.next)
        }
        let requests = list.elements
        if store.json {
            try Console.say(json: RefundRequestsResponse(requests: requests))
        } else if requests.isEmpty {
            Console.say("There are no such requests.")
        } else {
            Console.say(store.output.palette.table(RefundRequestReport.table(requests)))
            if list.isCut { Console.say("There are more. Use --limit.") }
        }
    }
}

/// `counterfoil refund-requests show`.
struct ShowRefundRequestCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows a request for a refund, and the report of the merchant's server.",
        discussion: """
            Without --number, the newest request is shown. If the report of the merchant's server \
            cannot be read, a line says so.

            JSON, without the report:
              {"request", "act", "refundState", "transaction"}
            """
    )

    @OptionGroup var options: RefundRequestOptions

    func perform() async throws {
        let (_, answer) = try await options.found()
        guard !options.store.json else { return try options.show(answer) }
        try options.show(answer, try await options.report())
    }
}

/// `counterfoil refund-requests approve`.
struct ApproveRefundRequestCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approves a request: refunds what is left of the price, or a part.",
        discussion: """
            Without an amount, the rest is refunded. The refund takes the product away if nothing \
            is left to refund afterwards; --revoke and --keep say otherwise. Repeating the command \
            refunds nothing twice. If the processor could not make the refund, the repeated \
            command tries again.

            Examples:
              counterfoil refund-requests approve 2175520387220000
              counterfoil refund-requests approve 2175520387220000 --amount 1.50 --keep
            """
    )

    @OptionGroup var options: RefundRequestOptions
    @OptionGroup var why: ReasonOption
    @OptionGroup var extent: RefundExtent

    func perform() async throws {
        try await options.decide { transaction in
            RefundDecisionRequest(
                decision: .approve,
                amount: try extent.money(in: transaction.price.currency),
                revokes: extent.revokes,
                reason: why.reason
            )
        }
    }
}

/// `counterfoil refund-requests decline`.
struct DeclineRefundRequestCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "decline",
        abstract: "Declines a request for a refund.",
        discussion: """
            The merchant's server is told (REFUND_DECLINED). The buyer may ask again.

            Example:
              counterfoil refund-requests decline 2175520387220000 --reason "used up"
            """
    )

    @OptionGroup var options: RefundRequestOptions

    @Option(
        help: "Why; the store keeps it with your name, and the buyer never sees it.",
        transform: ReasonOption.parse
    )
    var reason: ActReason

    func perform() async throws {
        try await options.decide { _ in
            RefundDecisionRequest(decision: .decline, reason: reason)
        }
    }
}
