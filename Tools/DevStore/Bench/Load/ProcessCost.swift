import Foundation
import StoreHarness

/// The resources that one process of the store used while a load ran.
struct ProcessCost: Sendable {
    /// The usage of one process at one moment.
    typealias Usage = (name: String, usage: ProcessUsage)

    /// The name of this process in the list of processes.
    static let load = "this load"
    /// The name of PostgreSQL with all its processes.
    static let postgresql = "postgresql"
    /// The name of PostgreSQL's processes that have ended, such as those that remove dead rows.
    static let endedPostgreSQL = "postgresql, ended"

    let name: String
    let usage: ProcessUsage
    let cpuSeconds: Double

    /// Whether the store has this cost whenever it does the same work.
    ///
    /// The load is not of the store. Processes of PostgreSQL that have ended are left out: whether it
    /// removes dead rows within a run of some seconds is a matter of chance.
    var isOfStore: Bool { ![Self.load, Self.endedPostgreSQL].contains(name) }

    /// The processor time for each of some purchases, in microseconds.
    func microseconds(perEachOf purchases: Int) -> Double { cpuSeconds * 1e6 / Double(purchases) }

    /// Reads what all processes of a store have used since their start.
    static func usages(of store: StoreHarness) -> [Usage] {
        var usages: [Usage] = store.processes.compactMap { process in
            process.usage.map { (process.name, $0) }
        }
        if let id = store.broker.processID, let usage = ProcessUsage(of: id) {
            usages.append(("broker", usage))
        }
        if let id = store.cluster.processID, let usage = ProcessUsage.ofTree(id) {
            usages.append((postgresql, usage))
            var ended = usage
            (ended.cpuSeconds, ended.residentBytes) = (usage.endedChildrenSeconds, 0)
            ended.residentBytesMax = 0
            usages.append((endedPostgreSQL, ended))
        }
        if let usage = ProcessUsage(of: getpid()) { usages.append((load, usage)) }
        return usages
    }

    /// Returns what all processes of a store have used since a moment.
    static func costs(of store: StoreHarness, since before: [Usage]) -> [ProcessCost] {
        usages(of: store).map { name, usage in
            let earlier = before.first { $0.name == name }?.usage.cpuSeconds ?? 0
            return ProcessCost(name: name, usage: usage, cpuSeconds: usage.cpuSeconds - earlier)
        }
    }
}
