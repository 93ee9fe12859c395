import EventTypes
import ServiceKit

extension StoreRequestContext {
    /// The act of the administrator who sent the request.
    func act(because reason: ActReason?) throws -> Act {
        Act(decidedBy: try requireAdministrator().name, reason: reason)
    }
}
