public import EventTypes
import NIOHTTP1
public import StoreAPI

extension StoreClient {
    /// Requests the family of the account.
    public func family() async throws -> StoreAnswer<FamilyResponse> {
        try await StoreAnswer.of(raw(.GET, urls.payments + Routes.family))
    }

    /// Leaves the family of the account.
    public func leaveFamily() async throws -> StoreAnswer<FamilyResponse> {
        try await StoreAnswer.of(raw(.POST, urls.payments + Routes.familyLeave))
    }
}

extension StoreAdministrator {
    /// Makes a family.
    public func makeFamily(
        of organizer: AccountID,
        with members: [AccountID]
    ) async throws -> StoreAnswer<FamilyResponse> {
        try await send(
            .POST,
            urls.payments + Routes.adminFamilies,
            FamilyRequest(
                bundleID: StoreKeys.bundleID,
                organizer: organizer,
                members: members
            )
        )
    }

    /// Adds an account to a family, or decides whether a member shares.
    public func include(
        _ account: AccountID,
        sharing isSharing: Bool? = nil,
        in family: FamilyID
    ) async throws -> StoreAnswer<FamilyResponse> {
        try await send(
            .PUT,
            urls.payments + Routes.familyMember(account, of: family),
            FamilyMemberRequest(isSharing: isSharing)
        )
    }

    /// Ends a family.
    public func end(_ family: FamilyID) async throws -> StoreAnswer<FamilyResponse> {
        try await send(.POST, urls.payments + Routes.familyEnd(family), FamilyEndRequest())
    }
}
