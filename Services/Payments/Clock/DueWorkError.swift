import ServiceKit

/// The reason why an advance of the store's clock does not know when work falls due.
struct DueWorkError: RetriableError, CustomStringConvertible {
    /// The name of the work, for people.
    let work: String
    let cause: any Error

    var isRetriable: Bool { (cause as? any RetriableError)?.isRetriable ?? true }
    var description: String { "\(work): \(cause)" }
}
