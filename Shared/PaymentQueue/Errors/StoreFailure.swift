import StoreAPI

/// Why a request to the store came to nothing.
enum StoreFailure: Error, CustomStringConvertible {
    /// The store said no.
    case refused(Problem)
    /// Nothing was sent: there was no connection, or no token.
    case notSent(String)
    /// There was no answer, or one that says to try again.
    case unreachable(String)
    /// The answer is not what the store answers.
    case unreadable(String)

    /// The failure in words.
    var description: String {
        switch self {
        case .refused(let problem): "refused, \(problem.code): \(problem.detail)"
        case .notSent(let reason), .unreachable(let reason): "unreachable: \(reason)"
        case .unreadable(let reason): "unreadable: \(reason)"
        }
    }

    /// The failure as StoreKit names it.
    var error: SKError {
        switch self {
        case .refused(let problem): SKError(problem)
        case .notSent, .unreachable:
            SKError(.cloudServiceNetworkConnectionFailed, detail: description)
        case .unreadable: SKError(.unknown, detail: description)
        }
    }

    /// The stable code of a refusal.
    var code: String? {
        guard case .refused(let problem) = self else { return nil }
        return problem.code
    }
}
