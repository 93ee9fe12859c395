package import EventTypes
package import StoreTracing

/// An event that a service could not apply (`dead`), that waits behind one (`parked`), or that was
/// settled: `redriven` or `discarded`.
package struct RecordedDeadLetter: Encodable, Hashable, Sendable {
    /// The consumer.
    package let service: String
    /// Its number in the service's table.
    package let id: Int64
    /// The event.
    package let eventID: EventID
    /// `dead`, `parked`, `redriven` or `discarded`.
    package let state: String
    /// The key of the event, mostly an account.
    package let key: String
    /// The type of the event.
    package let type: String
    /// The subject of the event.
    package let subject: String
    /// The topic that the event came from.
    package let topic: String
    /// The partition.
    package let partition: Int32
    /// The offset.
    package let offset: Int64
    /// The time of the event.
    package let time: StoreTime
    /// The time at which it was recorded.
    package let recordedAt: MachineTime
    /// The time at which a redrive was asked for.
    package let redriveRequestedAt: MachineTime?
    /// The time at which it was settled.
    package let settledAt: MachineTime?
    /// The reason why it could not be applied.
    package let reason: String
    /// Who asked for the redrive or discarded it, and why.
    package let act: Act?
    /// The trace of the event.
    package let traceparent: TraceContext?

    /// Whether it is not settled.
    package var isOpen: Bool { state == "dead" || state == "parked" }
}
