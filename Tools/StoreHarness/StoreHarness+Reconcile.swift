import EventTypes
import Foundation
public import StoreAPI

extension StoreHarness {
    /// Asks `counterfoil reconcile` whether all books agree, and for their contents.
    ///
    /// - Parameter limit: The time in which the books must agree.
    /// - Returns: Its answer with every transaction.
    /// - Throws: ``HarnessError`` if there is no answer or if the answer contradicts the exit code.
    public func reconcile(within limit: Duration = .zero) async throws -> Reconciliation {
        guard stripe != nil else { return try await reconcileOnce(within: limit) }
        return try await eventually(
            every: .milliseconds(200),
            "Stripe's list with the newest transactions"
        ) {
            let answer = try await self.reconcileOnce(within: limit)
            return answer.onTheirWay == 0 ? answer : nil
        }
    }

    private func reconcileOnce(within limit: Duration) async throws -> Reconciliation {
        let program = try await counterfoil(
            "reconcile",
            "--settled",
            "0",
            "--wait",
            "\(limit.components.seconds)",
            "--limit",
            "1000000",
            "--transactions",
            "--json"
        )
        let answer = try program.json(Reconciliation.self)
        guard (answer.lost + answer.doubled + answer.wrong == 0) == (program.exit == .code(0)),
            answer.transactions?.count == answer.compared,
            answer.onTheirWay == 0 || stripe != nil
        else { throw HarnessError("reconcile contradicts itself: \(program)") }
        return answer
    }
}

extension ProgramAnswer {
    /// Reads the JSON that a program printed before its final output on standard error.
    ///
    /// - Parameter type: The expected type.
    /// - Returns: The decoded value.
    /// - Throws: ``HarnessError`` if its exit code was not 0 or 1, or it printed no such JSON.
    public func json<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        guard [.code(0), .code(1)].contains(exit),
            let end = lines.lastIndex(where: { $0 == "}" || $0 == "]" })
        else { throw HarnessError("\(self)") }
        do {
            let text = lines[...end].joined(separator: "\n")
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch {
            throw HarnessError("\(error) in \(self)")
        }
    }
}
