/// The limits of a call: how long it may wait for the server, and whether an interrupt ends it.
struct PQLimits {
    /// The longest wait for an answer; `nil` waits for ever.
    var timeout: Duration?
    /// Whether a raised ``Interrupter`` cancels the statement.
    var isInterruptible: Bool
}
