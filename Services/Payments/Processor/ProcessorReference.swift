/// The payment processor's own id of a charge, a refund or a reversal.
struct ProcessorReference: RawRepresentable, Hashable, Sendable {
    let rawValue: String
}
