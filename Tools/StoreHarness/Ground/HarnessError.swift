/// A failure of the harness itself, in words for the person who reads the test's output.
public struct HarnessError: Error, CustomStringConvertible {
    /// What did not work, and where to look.
    public let description: String

    /// Makes a failure.
    public init(_ description: String) { self.description = description }
}

/// A fault that the store has shown; waiting and asking again do not make up for it.
public struct StoreFault: Error, CustomStringConvertible {
    /// What it answered.
    public let description: String

    /// Makes a fault.
    public init(_ description: String) { self.description = description }
}
