/// Counts the blocks of 8 KB that a statement has read.
///
/// - Parameter plan: The lines of `EXPLAIN (ANALYZE, BUFFERS)`.
/// - Returns: The number of blocks.
/// - Throws: ``HarnessError`` if the plan does not say it.
public func blocksRead(in plan: [String]) throws -> Int {
    // The numbers of the first node cover the whole plan.
    let line = plan.first { $0.contains("Buffers:") } ?? ""
    let counts = line.split { !$0.isNumber }.compactMap { Int($0) }
    guard !counts.isEmpty else { throw HarnessError("A plan names no blocks: \(plan)") }
    return counts.reduce(0, +)
}
