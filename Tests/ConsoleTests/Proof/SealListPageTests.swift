import OperatorCore
import Seals
import StoreAPI
import Testing

@testable import Console

@Suite struct SealListPageTests {
    private static func page(_ heads: [SealHead]) -> String {
        SealListPage(heads: heads, visitor: .sample([.operator])).html.markup
    }

    @Test func sealsAreShownAsTheCommandLineReadsThem() throws {
        let lines = [
            "payments/2026-11=" + String(repeating: "9f", count: 32),
            "payments/ledger/2026-11=" + String(repeating: "0a", count: 32),
        ]
        let heads = try lines.map { try #require(SealHead(argument: $0)) }
        #expect(heads.map(\.chain) == ["payments/2026-11", "payments/ledger/2026-11"])
        #expect(Self.page(heads).contains(">\(lines[0])\n\(lines[1])</pre>"))
    }

    @Test func aStoreWithoutEventsHasNoSealsAndSaysSo() {
        #expect(Self.page([]).contains("Nothing is sealed yet"))
        #expect(!Self.page([]).contains("<pre"))
    }
}
