import StoreAPI

/// The reason why a request to the store failed.
enum StoreFailure: Error, CustomStringConvertible {
    /// The store refused the request.
    case refused(Problem)
    /// Nothing was sent because there was no connection or no token.
    case notSent(String)
    /// There was no answer, or the answer asked for a retry.
    case unreachable(String)
    /// The answer is not in the store's format.
    case unreadable(String)

    /// The failure as text.
    var description: String {
        switch self {
        case .refused(let problem): "refused, \(problem.code): \(problem.detail)"
        case .notSent(let reason), .unreachable(let reason): "unreachable: \(reason)"
        case .unreadable(let reason): "unreadable: \(reason)"
        }
    }

    /// The corresponding StoreKit error.
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
