import EventTypes
import OperatorCore
import StoreAPI

/// Requests for refunds in words.
enum RefundRequestReport {
    /// A table of requests, with its head.
    static func table(_ requests: [RequestedRefund]) -> [[String]] {
        [["ID", "NO", "ASKED", "ACCOUNT", "PRODUCT", "REASON", "STATE"]]
            + requests.map {
                [
                    $0.transactionID.rawValue, "\($0.number)", "\($0.requestedAt)",
                    $0.accountID.rawValue, $0.productID.rawValue, $0.reason.rawValue,
                    $0.state.rawValue,
                ]
            }
    }

    /// One request, a fact a line.
    static func text(
        of answer: RefundRequestResponse,
        _ report: Result<ConsumptionInformation?, OperatorError>
    ) -> String {
        let request = answer.request
        var lines = [
            "Request \(request.number) for a refund of \(request.transactionID), \(request.state)",
            "asked at \(request.requestedAt) by \(request.accountID): \(request.reason)",
            TransactionOptions.summary(of: answer.transaction),
        ]
        if let time = request.decidedAt, let act = answer.act {
            lines.append("\(request.state) at \(time) \(act)")
        }
        if let number = request.refundNumber, let state = answer.refundState {
            lines.append("refund \(number): \(state.rawValue)")
        }
        switch report {
        case .success(nil): break
        case .success(let report?): lines.append(text(of: report))
        case .failure(let error):
            lines.append("the report of the merchant's server cannot be read: \(error)")
        }
        return lines.joined(separator: "\n")
    }

    /// The merchant's report in one line.
    private static func text(of answer: ConsumptionInformation) -> String {
        let report = answer.report
        var parts: [String] = []
        if let part = report.consumptionPercentage { parts.append("used \(part / 1000) %") }
        if let status = report.consumptionStatus { parts.append("consumption status \(status)") }
        if let status = report.deliveryStatus { parts.append("delivery \(status)") }
        if let wish = report.refundPreference { parts.append("prefers \(wish)") }
        let late = answer.isLate ? ", more than 12 hours after the request" : ""
        return "the merchant's server, at \(answer.receivedAt)\(late): "
            + (parts.isEmpty ? "no details" : parts.joined(separator: ", "))
    }
}
