/// A reason not to start, for the person at the terminal.
struct StorefrontRefusal: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
