import Foundation

/// A random number generator that returns the same numbers for the same seed on every machine
/// (SplitMix64; Steele, Lea and Flood, 2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes a generator.
    public init(seed: UInt64) { state = seed }

    /// Returns the next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// The seed of a test with random input.
///
/// Such a test takes the seed as its argument, so that Swift Testing prints it in every failure. To
/// repeat the failure, set the variable and run the tests again:
///
///     @Test(arguments: RandomSeed.ofThisRun)
///     func everyPostingBalances(seed: RandomSeed) {
///         var random = seed.generator()
public struct RandomSeed: Sendable, CustomStringConvertible {
    /// The environment variable that sets the seed of all tests.
    public static let variable = "COUNTERFOIL_TEST_SEED"

    /// The seed of this process.
    ///
    /// It is taken from the environment or chosen randomly once.
    ///
    /// It is a list with one element, because test arguments are a list.
    public static let ofThisRun = [
        RandomSeed(environment: ProcessInfo.processInfo.environment)
            ?? RandomSeed(.random(in: 1...(.max)))
    ]

    /// The value of the seed.
    public let value: UInt64

    /// Makes a seed.
    public init(_ value: UInt64) { self.value = value }

    /// Reads the seed from the environment.
    ///
    /// - Returns: `nil` if the variable is not set.
    /// - Precondition: The variable is a whole number if it is set. An invalid seed must not
    ///   silently become another one.
    public init?(environment: [String: String]) {
        guard let text = environment[Self.variable] else { return nil }
        guard let value = UInt64(text) else {
            preconditionFailure("\(Self.variable) is '\(text)', and must be a whole number.")
        }
        self.value = value
    }

    /// The variable assignment that repeats the run.
    public var description: String { "\(Self.variable)=\(value)" }

    /// Returns a generator that begins at the seed.
    ///
    /// - Parameter stream: The number of a generator. Concurrent tasks use generators with
    ///   different numbers.
    /// - Returns: The generator.
    public func generator(_ stream: Int = 0) -> SeededGenerator {
        SeededGenerator(seed: value &+ UInt64(truncatingIfNeeded: stream) &* 0xD134_2543_DE82_EF95)
    }
}
