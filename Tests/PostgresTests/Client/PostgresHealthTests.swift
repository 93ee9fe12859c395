import Testing

@testable import Postgres

/// The health of a database, decided by values alone.
@Suite struct PostgresHealthTests {
    private let start = ContinuousClock.now
    private let full = PostgresError(
        .serverBusy,
        "could not extend file",
        sqlState: "53100",
        constraint: nil
    )

    private func moment(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test func silenceAndRefusalAreDistinguished() {
        var health = PostgresHealth()
        let lost = PostgresError(.connectionLost, "no answer within the timeout")
        health.probeFailed(lost, isSilence: true, isConnected: true)
        #expect(health.problem == "PostgreSQL does not answer")
        health.probeFailed(lost, isSilence: false, isConnected: false)
        #expect(health.problem == "PostgreSQL cannot be reached")
        health.answered(since: start, isReadOnly: false, hasWritten: false)
        #expect(health.problem == nil)
    }

    @Test func aProbeWithoutASessionSaysNothingWhileWorkHasIts() {
        var health = PostgresHealth()
        let refused = PostgresError(.connectFailed, "sorry, too many clients already")
        health.probeFailed(refused, isSilence: false, isConnected: true)
        #expect(health.problem == nil)
    }

    @Test func aFullDiskThatWorkMetStandsUntilAWriteWorksAgain() {
        var health = PostgresHealth()
        #expect(!health.wantsWrite)
        health.workFailed(full, at: start)
        #expect(health.problem == "53100: PostgreSQL's disk is full")
        #expect(health.wantsWrite)
        health.answered(since: moment(9), isReadOnly: false, hasWritten: false)
        #expect(health.problem != nil, "Reading says nothing of it.")
        health.answered(since: moment(4), isReadOnly: false, hasWritten: true)
        #expect(health.problem != nil, "It was a moment ago.")
        health.answered(since: moment(5), isReadOnly: false, hasWritten: true)
        #expect(health.problem == nil)
        #expect(!health.wantsWrite)
    }

    @Test func aCommitThatWasNotAnsweredAsksForAWriteAndIsNoVerdict() {
        var health = PostgresHealth()
        health.workFailed(PostgresError(.commitOutcomeUnknown, ""), at: start)
        #expect(health.problem == nil)
        #expect(health.wantsWrite)
        health.answered(since: moment(1), isReadOnly: false, hasWritten: true)
        #expect(!health.wantsWrite)
    }

    @Test func whatIsWrongWithOneRequestIsNotWrongWithTheServer() {
        var health = PostgresHealth()
        for code in [.uniqueViolation, .lockTimeout, .deadlock, .statementTimeout]
            as [PostgresError.Code]
        {
            health.workFailed(PostgresError(code, ""), at: start)
        }
        #expect(health.problem == nil)
        #expect(!health.wantsWrite)
    }
}
