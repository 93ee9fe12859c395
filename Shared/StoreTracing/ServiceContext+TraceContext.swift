public import Tracing

extension ServiceContext {
    private enum TraceContextKey: ServiceContextKey {
        typealias Value = TraceContext
        static let nameOverride: String? = "counterfoil-trace"
    }

    /// The position in a trace, for the store's own tracer.
    public var traceContext: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }
}
