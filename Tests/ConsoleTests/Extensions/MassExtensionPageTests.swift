import EventTypes
import OperatorCore
import StoreAPI
import Testing

@testable import Console

@Suite struct MassExtensionPageTests {
    private static let club = ProductID(unchecked: "com.example.club")
    private static let time = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func listed(
        isDone: Bool = false,
        by act: Act? = Act(
            decidedBy: AdministratorName(unchecked: "maria"),
            reason: ActReason(rawValue: "<the outage>")
        )
    ) -> ListedMassExtension {
        var request = MassExtension(
            number: 17,
            bundleID: BundleID(unchecked: "com.example.app"),
            productID: club,
            requestIdentifier: "console-0",
            days: 3,
            reasonCode: 3,
            storefronts: [Storefront(unchecked: "USA")],
            acceptedAt: time
        )
        request.succeededCount = 1200
        request.failedCount = 2
        request.completedAt = isDone ? time : nil
        return ListedMassExtension(request: request, act: act, share: isDone ? 100 : 40)
    }

    private static func wish(_ text: String) throws -> MassExtensionForm.Wish {
        try MassExtensionForm.wish(of: club, in: try #require(FormFields(text)))
    }

    @Test(arguments: [
        "app=&days=3&code=3&newest=0", "app=a&days=0&code=3&newest=0",
        "app=a&days=91&code=3&newest=0", "app=a&days=3&code=4&newest=0",
        "app=a&days=3&code=3", "app=a&days=3&code=3&newest=-1",
        "app=a&days=3&code=3&newest=0&storefronts=USA+Europe",
    ])
    func whatCannotBeMeantIsRefused(text: String) {
        #expect(throws: ConsoleProblem.self) { try Self.wish(text) }
    }

    @Test func theConfirmationAsksForWhatTheFormSaid() throws {
        let wish = try Self.wish("app=a&days=3&code=1&newest=16&storefronts=usa,+CAN+USA")
        #expect(wish.storefronts?.map(\.rawValue) == ["USA", "CAN"])
        #expect(wish.code == .customerSatisfaction)
        #expect(try Self.wish(PlainWords.query(wish.fields)) == wish)
        // Whoever has seen the same requests has the same key, so a lost answer extends nobody twice.
        #expect(wish.key.rawValue == "console-16")
        let everywhere = try Self.wish("app=a&days=3&code=1&newest=16")
        #expect(everywhere.storefronts == nil)
        #expect(try Self.wish(PlainWords.query(everywhere.fields)) == everywhere)
    }

    @Test func whomItIsForIsSaidBeforeItIsConfirmed() throws {
        let page = MassExtensionPreviewPage(
            wish: try Self.wish("app=a&days=3&code=3&newest=0"),
            count: BoundedCount(1204, isAtLeast: true),
            visitor: .sample([.support])
        ).html.markup
        for part in [
            "1,204 subscribers would get 3 days", "there may be more", "Type the product",
            "name=\"reason\"", "<dd>all</dd>",
        ] {
            #expect(page.contains(part), "\(part)")
        }
    }

    @Test func anExtensionIsWatchedUntilItIsDone() {
        func page(_ listed: ListedMassExtension) -> String {
            MassExtensionPage(listed: listed, visitor: .sample([.support])).html.markup
        }
        let going = page(Self.listed())
        for part in [
            "under way", "<progress max=\"100\" value=\"40\"", "1,200", "data-stamp=\"going\"",
            "&lt;the outage&gt;", "maria",
        ] {
            #expect(going.contains(part), "\(part)")
        }
        let done = page(Self.listed(isDone: true, by: nil))
        #expect(done.contains("tone-good\">done</span>") && !done.contains("<progress"))
        #expect(done.contains("The merchant’s server asked for it"))
    }

    @Test func whoMayNotExtendSeesNoForm() {
        func page(_ scopes: Set<AdministratorScope>) -> String {
            MassExtensionListPage(
                product: Self.club,
                found: [Self.listed()],
                visitor: .sample(scopes)
            ).html.markup
        }
        #expect(page([.support]).contains("name=\"newest\" value=\"17\""))
        #expect(!page([.read]).contains("<form class=\"editor\""))
        #expect(page([.read]).contains("/products/com.example.club/extensions/17"))
    }
}
