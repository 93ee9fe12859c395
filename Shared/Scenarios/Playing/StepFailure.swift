/// An error that ends a run, without the line of its step.
struct StepFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
