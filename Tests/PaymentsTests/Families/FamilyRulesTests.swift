import EventTypes
import ServiceKit
import Testing

@testable import Payments

@Suite struct FamilyRulesTests {
    private let id = FamilyID(unchecked: "019b2a3c-7a10-7a10-8a10-0123456789ab")
    private let others = ["ben", "cleo", "dora", "emil", "finn"].map(AccountID.init(unchecked:))

    private func create(
        with members: [AccountID],
        besides families: [AccountID: Family] = [:]
    ) -> FamilyRules.Verdict {
        FamilyRules.creating(
            id,
            of: "ada",
            with: members,
            in: alice.bundleID,
            besides: families,
            at: startTime
        )
    }

    private func family(_ members: [AccountID]) throws -> Family {
        guard case .changed(let family) = create(with: members) else {
            throw FamilyRefusal.unknown
        }
        return family
    }

    @Test func sixAreAFamilyAndSevenAreNot() throws {
        #expect(try family(others).members.count == 6)
        #expect(create(with: others + ["gina"]) == .refused(.tooLarge(max: 6)))
        let full = try family(others)
        #expect(include("gina", in: full) == .refused(.tooLarge(max: 6)))
    }

    @Test func oneAloneIsNoFamily() {
        #expect(create(with: []) == .refused(.tooSmall))
    }

    @Test func nobodyIsNamedTwice() {
        #expect(create(with: ["ada"]) == .refused(.repeated("ada")))
        #expect(create(with: ["ben", "ben"]) == .refused(.repeated("ben")))
    }

    @Test func anAccountIsInOneFamily() throws {
        let other = try family(["ben"])
        #expect(
            create(with: ["cleo", "ben"], besides: ["ben": other])
                == .refused(
                    .inAnotherFamily("ben")
                )
        )
        #expect(include("ben", in: other, besides: other) == .unchanged(other))
        var third = other
        third.members.removeLast()
        #expect(include("ben", in: third, besides: other) == .refused(.inAnotherFamily("ben")))
    }

    @Test func theSameRequestGetsTheSameFamily() throws {
        let family = try family(["ben", "cleo"])
        #expect(
            create(with: ["cleo", "ben"], besides: ["ada": family, "ben": family])
                == .unchanged(family)
        )
        // Another organizer asks for another family.
        var foreign = family
        foreign.organizer = "ben"
        #expect(
            create(with: ["ben", "cleo"], besides: ["ada": foreign])
                == .refused(.inAnotherFamily("ada"))
        )
    }

    @Test func aMemberSharesUntilItIsDecidedOtherwise() throws {
        let family = try family(["ben"])
        guard case .changed(let changed) = include("ben", false, in: family) else {
            return #expect(Bool(false), "the member still shares")
        }
        #expect(changed.members.map(\.isSharing) == [true, false] && changed.version == 2)
        // Nothing is said about sharing, so nothing changes.
        #expect(include("ben", in: changed) == .unchanged(changed))
    }

    @Test func theOrganizerAndTheLastOtherMemberStay() throws {
        let two = try family(["ben"])
        #expect(FamilyRules.removing("ada", from: two) == .refused(.organizerStays))
        #expect(FamilyRules.removing("ben", from: two) == .refused(.tooSmall))
        #expect(FamilyRules.removing("zoe", from: two) == .refused(.memberUnknown("zoe")))
        let three = try family(["ben", "cleo"])
        guard case .changed(let left) = FamilyRules.removing("ben", from: three) else {
            return #expect(Bool(false), "the member is still there")
        }
        #expect(left.members.map(\.accountID) == ["ada", "cleo"])
    }

    /// Nobody has to stay: a family of two ends.
    @Test func aMemberLeavesByItself() throws {
        let later = startTime.advanced(by: .seconds(60))
        let three = try family(["ben", "cleo"])
        #expect(
            FamilyRules.leaving("ben", three, at: later) == FamilyRules.removing("ben", from: three)
        )
        #expect(FamilyRules.leaving("ada", three, at: later) == .refused(.organizerStays))
        #expect(FamilyRules.leaving("zoe", three, at: later) == .unchanged(three))
        let two = try family(["ben"])
        guard case .changed(let ended) = FamilyRules.leaving("ben", two, at: later) else {
            return #expect(Bool(false), "the family goes on")
        }
        #expect(ended.members.isEmpty && ended.endedAt == later)
        #expect(FamilyRules.leaving("ben", ended, at: later) == .unchanged(ended))
    }

    @Test func aFamilyThatHasEndedStaysAsItIs() throws {
        let later = startTime.advanced(by: .seconds(60))
        guard case .changed(let ended) = FamilyRules.ending(try family(["ben"]), at: later) else {
            return #expect(Bool(false), "the family goes on")
        }
        #expect(ended.members.isEmpty && ended.endedAt == later)
        #expect(FamilyRules.ending(ended, at: startTime) == .unchanged(ended))
        #expect(include("ben", in: ended) == .refused(.ended))
        #expect(FamilyRules.removing("ben", from: ended) == .refused(.ended))
    }

    private func include(
        _ account: AccountID,
        _ isSharing: Bool? = nil,
        in family: Family,
        besides other: Family? = nil
    ) -> FamilyRules.Verdict {
        FamilyRules.including(
            account,
            sharing: isSharing,
            in: family,
            besides: other,
            at: startTime
        )
    }
}
