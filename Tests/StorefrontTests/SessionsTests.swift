import Foundation
import Testing

@testable import storefront

@Suite struct SessionsTests {
    private let begin = Date(timeIntervalSince1970: 1_800_000_000)

    private func sessions() throws -> (Sessions, secret: String) {
        let sessions = Sessions()
        return (sessions, sessions.begin(try Buyer(name: "ada"), storefront: "USA", at: begin))
    }

    @Test func aSessionIsFoundByItsSecretOnly() throws {
        let (sessions, secret) = try sessions()
        #expect(sessions.session(of: secret, at: begin)?.buyer.name == "ada")
        #expect(sessions.session(of: secret + "0", at: begin) == nil)
        #expect(sessions.session(of: nil, at: begin) == nil)
        #expect(secret.utf8.count == 32)
    }

    @Test func aSessionThatEndedIsGone() throws {
        let (sessions, secret) = try sessions()
        sessions.end(secret)
        #expect(sessions.session(of: secret, at: begin) == nil)
    }

    @Test func aSessionEndsAfterALongPause() throws {
        let (sessions, secret) = try sessions()
        let late = begin.addingTimeInterval(Sessions.pauseMax)
        #expect(sessions.session(of: secret, at: late.addingTimeInterval(-1)) != nil)
        #expect(sessions.session(of: secret, at: late) != nil)
        #expect(sessions.session(of: secret, at: late.addingTimeInterval(Sessions.pauseMax)) == nil)
    }

    @Test func aSessionThatIsAlwaysUsedEndsAllTheSame() throws {
        let (sessions, secret) = try sessions()
        for hour in 0..<8 {
            let time = begin.addingTimeInterval(TimeInterval(hour) * 3600)
            #expect(sessions.session(of: secret, at: time) != nil)
        }
        #expect(sessions.session(of: secret, at: begin.addingTimeInterval(Sessions.ageMax)) == nil)
    }

    @Test func anOpenPageAloneDoesNotProlongItsSession() throws {
        let (sessions, secret) = try sessions()
        #expect(!sessions.isGoingOn(nil, at: begin))
        #expect(sessions.isGoingOn(secret, at: begin.addingTimeInterval(Sessions.pauseMax - 1)))
        #expect(!sessions.isGoingOn(secret, at: begin.addingTimeInterval(Sessions.pauseMax)))
        sessions.end(secret)
        #expect(!sessions.isGoingOn(secret, at: begin))
    }

    @Test func theOldestMakesRoomForOneTooMany() throws {
        let (sessions, first) = try sessions()
        let buyer = try Buyer(name: "bob")
        for number in 1...Sessions.countMax {
            let time = begin.addingTimeInterval(Double(number) / 1000)
            _ = sessions.begin(buyer, storefront: "USA", at: time)
        }
        #expect(sessions.session(of: first, at: begin.addingTimeInterval(60)) == nil)
    }
}
