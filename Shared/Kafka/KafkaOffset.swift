/// The offset from which a partition is read on.
public enum KafkaOffset: Hashable, Sendable {
    /// The oldest message that is left.
    case beginning
    /// The next message to come.
    case end
    /// A message, or the next one that is left.
    case at(Int64)
}
