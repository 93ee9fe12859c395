package import StoreTracing

extension StoreConnection {
    /// The trace that the requests of the current task belong to; `nil` if each begins its own.
    @TaskLocal static var trace: TraceContext?

    /// Runs a body whose requests belong to a trace.
    ///
    /// - Parameters:
    ///   - trace: The trace; `nil` if each request begins its own, as those of long work do.
    ///   - body: Sends the requests.
    /// - Returns: What the body returns.
    package static func withTrace<R>(
        _ trace: TraceContext?,
        _ body: () async throws -> R
    ) async rethrows -> R {
        try await $trace.withValue(trace, operation: body)
    }
}
