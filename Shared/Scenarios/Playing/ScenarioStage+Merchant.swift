import EventTypes
import Foundation
import StoreAPI

/// The steps of merchants and families after a purchase.
extension ScenarioStage {
    /// Extends a subscription for nothing.
    func extend(_ payment: PlayedPayment, by days: Int, refused: String?) async throws {
        let id = try await connection.subscriptionID(of: payment)
        try await ask(Routes.adminExtensions(id), ExtensionRequest(days: days), refused: refused)
    }

    /// Makes a family.
    func makeFamily(_ organizer: String, with others: [String]) async throws {
        let request = FamilyRequest(
            bundleID: connection.store.bundleID,
            organizer: try cast.account(organizer),
            members: try others.map(cast.account)
        )
        try await ask(Routes.adminFamilies, request, refused: nil)
    }

    /// Leaves the family of an account.
    func leaveFamily(_ account: String, refused: String?) async throws {
        let account = try cast.account(account)
        try await ask(Routes.familyLeave, nil, by: .account(account), refused: refused)
    }

    /// Asks for a refund as the buyer, and decides as the administrator.
    ///
    /// A refusal is that of the buyer's request.
    func askForRefund(
        of payment: PlayedPayment,
        _ decision: RefundDecisionRequest.Decision,
        refused: String?
    ) async throws {
        let id = try payment.accepted
        let answer = try await ask(
            Routes.refundRequests(of: id),
            BuyerRefundRequest(reason: .other),
            by: .account(payment.account),
            refused: refused
        )
        guard let answer else { return }
        let asked = try JSONDecoder().decode(BuyerRefundResponse.self, from: Data(answer))
        try await ask(
            Routes.refundDecision(id, asked.request.number),
            // Nobody may decline without a reason.
            RefundDecisionRequest(
                decision: decision,
                reason: ActReason(rawValue: "The scenario says so.")
            ),
            refused: nil
        )
    }
}
