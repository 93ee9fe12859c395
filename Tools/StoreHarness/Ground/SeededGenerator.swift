import Foundation

/// Random numbers that are the same for the same seed, on every machine (SplitMix64; Steele, Lea and
/// Flood, 2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes a generator.
    public init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// The seed of a test that draws its input.
///
/// Such a test takes the seed as its argument, so that Swift Testing names it in every failure. Run
/// the tests again with the variable to repeat that failure:
///
///     @Test(arguments: RandomSeed.ofThisRun)
///     func everyPostingBalances(seed: RandomSeed) {
///         var random = seed.generator()
public struct RandomSeed: Sendable, CustomStringConvertible {
    /// The environment variable that sets the seed of all tests.
    public static let variable = "COUNTERFOIL_TEST_SEED"

    /// The seed of this process: from the environment, or drawn once.
    ///
    /// It is a list of one, as the arguments of a test are.
    public static let ofThisRun = [
        RandomSeed(environment: ProcessInfo.processInfo.environment)
            ?? RandomSeed(.random(in: 1...(.max)))
    ]

    /// The seed itself.
    public let value: UInt64

    /// Makes a seed.
    public init(_ value: UInt64) { self.value = value }

    /// Reads the seed from the environment.
    ///
    /// - Returns: `nil` if the variable is not set.
    /// - Precondition: A variable that is set is a whole number: a seed that is not understood would
    ///   silently become another one.
    public init?(environment: [String: String]) {
        guard let text = environment[Self.variable] else { return nil }
        guard let value = UInt64(text) else {
            preconditionFailure("\(Self.variable) is '\(text)', and must be a whole number.")
        }
        self.value = value
    }

    /// How to repeat the run.
    public var description: String { "\(Self.variable)=\(value)" }

    /// A generator that begins at the seed.
    ///
    /// - Parameter stream: Which of several generators with different numbers, for tasks that run at
    ///   the same time.
    /// - Returns: The generator.
    public func generator(_ stream: Int = 0) -> SeededGenerator {
        SeededGenerator(seed: value &+ UInt64(truncatingIfNeeded: stream) &* 0xD134_2543_DE82_EF95)
    }
}
