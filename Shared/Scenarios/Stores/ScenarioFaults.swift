public import EventTypes

/// The faults that a run can cause in its store.
public protocol ScenarioFaults: Sendable {
    /// Kills a service without warning.
    func kill(_ service: ServiceName) async throws

    /// Starts a service that was killed, and waits until it is ready.
    func restart(_ service: ServiceName) async throws

    /// Stops a service without its noticing.
    func freeze(_ service: ServiceName) async throws

    /// Lets a frozen service go on.
    func thaw(_ service: ServiceName) async throws

    /// Loses the next answers to a kind of request after the store has sent them.
    ///
    /// - Parameters:
    ///   - answer: The kind of request.
    ///   - times: The number of answers to lose, one after the other.
    /// - Returns: Says whether all of them were lost.
    /// - Throws: An error if they cannot be lost.
    func drop(_ answer: DroppedAnswer, times: Int) async throws -> @Sendable () -> Bool

    /// Sends all events about a transaction once more, under their own ids.
    func duplicate(_ transaction: TransactionID) async throws

    /// Ends all faults, and waits until every service is ready.
    func heal() async throws
}
