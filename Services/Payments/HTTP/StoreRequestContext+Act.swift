import EventTypes
import ServiceKit

extension StoreRequestContext {
    /// The act of the administrator who sent the request.
    ///
    /// Its reason is kept for ever, so it has no card's number in it.
    func act(because reason: ActReason?) throws -> Act {
        if CardNumber.isIn(reason?.rawValue ?? "") { throw HTTPProblem.cardNumberRefused }
        return Act(decidedBy: try requireAdministrator().name, reason: reason)
    }
}
