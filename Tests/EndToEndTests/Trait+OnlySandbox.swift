import TestSupport
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test if `PROCESSOR` names another processor than the sandbox's.
    ///
    /// - Parameter reason: The reason, which is printed.
    /// - Returns: The trait.
    static func onlySandbox(_ reason: Comment) -> Self {
        .enabled(reason) { try StoreOptions.Processor.chosen() == .sandbox }
    }
}
