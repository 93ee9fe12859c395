import EventTypes
import Foundation
import Postgres
import Synchronization

/// Encodes and decodes the column `delivery_plan`.
///
/// There are far fewer plans than transactions, so each plan is encoded and decoded once and then
/// cached.
enum DeliveryPlanStore {
    private static let plansMax = 4096
    private static let memory = Mutex(Memory())

    private struct Memory {
        var encoded: [[DeliveryTarget]: [UInt8]] = [:]
        var decoded: [[UInt8]: [DeliveryTarget]] = [:]
    }

    static func encode(_ plan: [DeliveryTarget]) throws -> PostgresJSON {
        if let bytes = memory.withLock({ $0.encoded[plan] }) { return PostgresJSON(bytes: bytes) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes = [UInt8](try encoder.encode(plan))
        memory.withLock { memory in
            if memory.encoded.count >= plansMax { memory.encoded.removeAll() }
            memory.encoded[plan] = bytes
        }
        return PostgresJSON(bytes: bytes)
    }

    static func decode(_ json: PostgresJSON) throws -> [DeliveryTarget] {
        if let plan = memory.withLock({ $0.decoded[json.bytes] }) { return plan }
        let plan = try JSONDecoder().decode([DeliveryTarget].self, from: Data(json.bytes))
        memory.withLock { memory in
            if memory.decoded.count >= plansMax { memory.decoded.removeAll() }
            memory.decoded[json.bytes] = plan
        }
        return plan
    }
}
