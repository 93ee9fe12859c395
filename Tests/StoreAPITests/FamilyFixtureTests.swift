import EventTypes
import StoreAPI
import Testing

/// The bodies about families, as other programs read and write them.
@Suite struct FamilyFixtureTests {
    @Test func familiesReadBack() throws {
        let request = try HTTPFixture.roundTrip(FamilyRequest.self, "family.request")
        #expect(request.organizer.rawValue == "ada" && request.members.count == 2)
        let member = try HTTPFixture.roundTrip(FamilyMemberRequest.self, "family.member.request")
        #expect(member.isSharing == false)
        let end = try HTTPFixture.roundTrip(FamilyEndRequest.self, "family.end.request")
        #expect(end.reason?.rawValue == "Asked by mail")
        let response = try HTTPFixture.roundTrip(FamilyResponse.self, "family.response")
        #expect(response.family?.members.map(\.isSharing) == [true, false])
        #expect(response.strangers?.map(\.rawValue) == ["ben"])
        let page = try HTTPFixture.roundTrip(FamiliesResponse.self, "families.response")
        #expect(page.families.first?.endedAt != nil && page.next == page.families.first?.id)
    }

    @Test func routesHoldTheirAccounts() throws {
        let id = try #require(FamilyID(rawValue: "019b2a3c-7a10-7a10-8a10-0123456789ab"))
        let account = AccountID(unchecked: "a/b")
        #expect(Routes.familyEnd(id) == "/v1/admin/families/\(id)/end")
        #expect(
            Routes.familyRemoval(of: account, from: id)
                == "/v1/admin/families/\(id)/members/a%2Fb/removal"
        )
    }
}
