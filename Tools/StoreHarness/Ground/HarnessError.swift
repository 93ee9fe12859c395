/// An error of the harness itself, with a description for the reader of the test's output.
public struct HarnessError: Error, CustomStringConvertible {
    /// A description of the error and of the place to look at.
    public let description: String

    /// Makes an error.
    public init(_ description: String) { self.description = description }
}

/// A fault of the store that a retry must not hide.
public struct StoreFault: Error, CustomStringConvertible {
    /// The answer of the store.
    public let description: String

    /// Makes a fault.
    public init(_ description: String) { self.description = description }
}
