import EventTypes
import Foundation
import NIOHTTP1
public import StoreAPI

extension StoreClient {
    /// Asks for the page on which the account redeems codes.
    ///
    /// - Parameter method: The payment method for what a code does not make free.
    /// - Returns: The answer with any status.
    /// - Throws: An error if there is no answer.
    public func openCodePage(
        by method: SandboxPaymentMethod = .success
    ) async throws -> StoreAnswer<RedemptionTicketResponse> {
        let request = RedemptionTicketRequest(
            storefront: SampleCatalog.usa,
            paymentMethod: try await payingMethod(like: method)
        )
        return try await StoreAnswer.of(
            raw(
                .POST,
                urls.payments + Routes.redemptionTickets,
                body: Array(try JSONEncoder().encode(request))
            )
        )
    }

    /// Sends the form of that page, as a browser does.
    ///
    /// - Parameter fields: The values of the form's fields, by their names.
    /// - Returns: The next page, if the form was accepted.
    /// - Throws: An error if there is no answer.
    public func sendCodeForm(_ fields: [String: String]) async throws -> StoreAnswer<String> {
        let form = fields.map { name, value in
            let text = value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return "\(name)=\(text)"
        }.joined(separator: "&")
        let response = try await StoreHTTP.send(
            .POST,
            urls.payments + Routes.redemptionPage,
            headers: [("content-type", "application/x-www-form-urlencoded")],
            body: Array(form.utf8),
            timeout: timeout
        )
        let page = (200..<300).contains(response.status) ? response.text : nil
        // A page for people is no problem document. It has its status and text.
        let problem = try? response.decode(Problem.self)
        return StoreAnswer(response: response, valueIfAny: page, problem: problem)
    }

    /// Returns what confirms the offer that a page shows; `nil` if the page asks nothing.
    public static func confirmation(in page: String) -> String? {
        page.components(separatedBy: "name=\"confirmed\" value=\"").dropFirst().first?
            .components(separatedBy: "\"").first?
            .replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
    }
}
