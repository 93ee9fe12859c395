import Tracing

extension Span.Kind {
    init(_ kind: SpanKind) {
        switch kind {
        case .server: self = .server
        case .client: self = .client
        case .producer: self = .producer
        case .consumer: self = .consumer
        case .internal: self = .internal
        }
    }

    var tracing: SpanKind {
        switch self {
        case .internal: .internal
        case .server: .server
        case .client: .client
        case .producer: .producer
        case .consumer: .consumer
        }
    }
}

extension Span {
    /// The attributes in the form of the store's own spans: texts and whole numbers.
    static func values(of attributes: SpanAttributes) -> [String: Value] {
        var values: [String: Value] = [:]
        attributes.forEach { name, value in
            values[name] =
                switch value {
                case .int32(let number): .number(Int(number))
                case .int64(let number): .number(Int(number))
                case .string(let text): .text(text)
                case .bool(let flag): .text("\(flag)")
                case .double(let number): .text("\(number)")
                case .stringConvertible(let value): .text("\(value)")
                default: .text("\(value)")
                }
        }
        return values
    }

    /// The attributes in the form that any tracer accepts.
    var tracingAttributes: SpanAttributes {
        SpanAttributes(
            attributes.mapValues { value in
                switch value {
                case .text(let text): .string(text)
                case .number(let number): .int64(Int64(number))
                }
            }
        )
    }
}
