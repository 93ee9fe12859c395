import Testing
import TestSupport

@testable import Postgres

/// The pool's decisions, without a server.
@Suite struct PoolStateMachineTests {
    private let start = ContinuousClock.now

    private func connectedPool(size: Int, waitersMax: Int = 10) -> PoolStateMachine {
        var machine = PoolStateMachine(size: size, waitersMax: waitersMax)
        for slot in 0..<size {
            #expect(machine.connected(slot) == .keepIdle)
        }
        return machine
    }

    @Test func theConnectionUsedLastIsLentFirst() {
        var machine = connectedPool(size: 3)
        #expect(machine.takeIdle() == 2)
        #expect(machine.takeIdle() == 1)
        #expect(machine.release(2, isUsable: true) == .keepIdle)
        #expect(machine.takeIdle() == 2)
        #expect(machine.takeIdle() == 0)
        #expect(machine.takeIdle() == nil)
    }

    @Test func aFreshConnectionGoesToWhoHasWaitedLongest() {
        var machine = PoolStateMachine(size: 1, waitersMax: 10)
        #expect(machine.takeIdle() == nil)
        #expect(machine.enqueue(1, deadline: start) == true)
        #expect(machine.enqueue(2, deadline: start) == true)
        #expect(machine.connected(0) == .lend(1))
        #expect(machine.release(0, isUsable: true) == .lend(2))
        #expect(machine.release(0, isUsable: true) == .keepIdle)
    }

    @Test func whoHasLeftTheLineIsPassedOver() {
        var machine = connectedPool(size: 1)
        _ = machine.takeIdle()
        _ = machine.enqueue(1, deadline: start)
        _ = machine.enqueue(2, deadline: start)
        #expect(machine.leave(1) == true)
        #expect(machine.leave(1) == false)
        #expect(machine.release(0, isUsable: true) == .lend(2))
    }

    @Test func thoseWhoWaitedTooLongAreTakenOutInOrder() {
        var machine = connectedPool(size: 1)
        _ = machine.takeIdle()
        for waiter in UInt64(1)...3 {
            _ = machine.enqueue(waiter, deadline: start + .seconds(Int(waiter)))
        }
        _ = machine.leave(1)
        #expect(machine.expire(at: start + .seconds(1)) == [])
        #expect(machine.expire(at: start + .seconds(2)) == [2])
        #expect(machine.waitingCount == 1)
        #expect(machine.release(0, isUsable: true) == .lend(3))
        #expect(machine.waitingCount == 0)
    }

    @Test func whoHasLittleTimeLeavesTheLineBeforeThoseInFront() {
        var machine = connectedPool(size: 1)
        _ = machine.takeIdle()
        _ = machine.enqueue(1, deadline: start + .seconds(10))
        _ = machine.enqueue(2, deadline: start + .seconds(1))
        _ = machine.enqueue(3, deadline: start + .seconds(10))
        #expect(machine.expire(at: start + .seconds(1)) == [2])
        #expect(machine.release(0, isUsable: true) == .lend(1))
        #expect(machine.release(0, isUsable: true) == .lend(3))
        #expect(machine.release(0, isUsable: true) == .keepIdle)
    }

    @Test func aBrokenConnectionIsReplacedAndNotLent() {
        var machine = connectedPool(size: 1)
        _ = machine.takeIdle()
        _ = machine.enqueue(1, deadline: start)
        #expect(machine.release(0, isUsable: false) == .replace)
        #expect(machine.liveCount == 0)
        #expect(machine.connectFailed(0) == 1)
        #expect(machine.connectFailed(0) == 2)
        #expect(machine.connected(0) == .lend(1))
        #expect(machine.release(0, isUsable: false) == .replace)
        #expect(machine.connectFailed(0) == 1)
    }

    @Test func theLineHasAnEnd() {
        var machine = connectedPool(size: 1, waitersMax: 2)
        _ = machine.takeIdle()
        #expect(machine.enqueue(1, deadline: start) == true)
        #expect(machine.enqueue(2, deadline: start) == true)
        #expect(machine.enqueue(3, deadline: start) == false)
        #expect(machine.leave(1) == true)
        #expect(machine.enqueue(3, deadline: start) == true)
    }

    @Test func shuttingDownRefusesClosesAndLendsNothing() {
        var machine = connectedPool(size: 3)
        _ = machine.takeIdle()
        _ = machine.takeIdle()
        _ = machine.release(2, isUsable: false)
        let (idle, waiters) = machine.shutDown()
        #expect(idle == [0])
        #expect(waiters.isEmpty)
        #expect(machine.takeIdle() == nil)
        #expect(machine.enqueue(1, deadline: start) == false)
        #expect(machine.release(1, isUsable: true) == .close)
        #expect(machine.connectFailed(2) == nil)
        #expect(machine.slots == [.closed, .closed, .closed])
        let again = machine.shutDown()
        #expect(again.idle.isEmpty)
    }

    @Test func aConnectionThatOpensAfterTheShutDownIsClosed() {
        var machine = PoolStateMachine(size: 1, waitersMax: 10)
        _ = machine.enqueue(7, deadline: start)
        #expect(machine.shutDown().waiters == [7])
        #expect(machine.connected(0) == .close)
    }

    /// A random walk with a fixed seed through all events.
    ///
    /// At no step is a connection lost or lent twice.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func noConnectionIsEverLostOrLentTwice(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var machine = PoolStateMachine(size: 4, waitersMax: 8)
        var lent: Set<Int> = []
        var waiting: [UInt64] = []
        var waiter: UInt64 = 0
        func follow(_ next: PoolStateMachine.Next, _ slot: Int) {
            guard case .lend(let first) = next else { return }
            #expect(first == waiting.first)
            waiting.removeFirst()
            let (isNew, _) = lent.insert(slot)
            #expect(isNew)
        }
        for _ in 0..<5000 {
            let slot = Int.random(in: 0..<4, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                if let slot = machine.takeIdle() {
                    #expect(waiting.isEmpty)
                    let (isNew, _) = lent.insert(slot)
                    #expect(isNew)
                } else {
                    waiter += 1
                    if machine.enqueue(waiter, deadline: start) { waiting.append(waiter) }
                }
            case 2 where lent.contains(slot):
                lent.remove(slot)
                follow(machine.release(slot, isUsable: true), slot)
            case 3 where lent.contains(slot):
                lent.remove(slot)
                #expect(machine.release(slot, isUsable: false) == .replace)
            case 4:
                if case .connecting = machine.slots[slot] {
                    follow(machine.connected(slot), slot)
                }
            case 5 where !waiting.isEmpty:
                let index = Int.random(in: waiting.indices, using: &random)
                #expect(machine.leave(waiting.remove(at: index)) == true)
            default: break
            }
            #expect(machine.waitingCount == waiting.count)
            #expect(Set(machine.slots.indices.filter { machine.slots[$0] == .leased }) == lent)
            #expect(waiting.isEmpty || machine.idleCount == 0)
        }
    }
}
