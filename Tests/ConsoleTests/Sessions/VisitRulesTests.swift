import EventTypes
import StoreAPI
import Testing

@testable import Console

extension Visitor {
    /// An administrator with some scopes, whose forms carry the text `own`.
    static func sample(
        _ scopes: Set<AdministratorScope>,
        isReadOnly: Bool = false,
        isSandbox: Bool = true
    ) -> Visitor {
        let time = MachineTime(millisecondsSinceEpoch: 1_795_237_200_000)
        return Visitor(
            name: AdministratorName(unchecked: "maria"),
            scopes: scopes,
            session: ConsoleSession(
                holder: AdministratorName(unchecked: "maria"),
                token: "token",
                csrf: "own",
                begunAt: time,
                isSandbox: isSandbox,
                usedAt: time
            ),
            isReadOnly: isReadOnly
        )
    }
}

@Suite struct VisitRulesTests {
    private func form(_ body: String) throws -> FormFields {
        try #require(FormFields(body))
    }

    @Test func supportMayActWithAFormOfItsSession() throws {
        let rules = VisitRules(isReadOnly: false)
        try rules.requireAct(
            by: .sample([.support]),
            as: .support,
            form: try form("csrf=own&reason=x")
        )
    }

    @Test(arguments: ["", "csrf=", "csrf=other", "csrf=ow", "csrf=ownn"])
    func aFormOfAnotherSessionIsRefused(_ body: String) throws {
        let rules = VisitRules(isReadOnly: false)
        let form = try form(body)
        #expect(throws: ConsoleProblem.self) {
            try rules.requireAct(by: .sample([.support]), as: .support, form: form)
        }
    }

    @Test(arguments: [[], [.read], [.operator], [.merchandiser]] as [Set<AdministratorScope>])
    func whoLacksTheScopeMayNotAct(_ scopes: Set<AdministratorScope>) throws {
        let form = try form("csrf=own")
        #expect(throws: ConsoleProblem.self) {
            try VisitRules(isReadOnly: false).requireAct(
                by: .sample(scopes),
                as: .support,
                form: form
            )
        }
    }

    @Test func nobodyActsInAReadOnlyConsole() throws {
        let form = try form("csrf=own")
        let visitor = Visitor.sample(Set(AdministratorScope.allCases), isReadOnly: true)
        #expect(throws: ConsoleProblem.self) {
            try VisitRules(isReadOnly: true).requireAct(by: visitor, as: .support, form: form)
        }
    }

    @Test(
        arguments: [
            (.read, [.purchases, .products, .deadLetters, .clock, .jobs]),
            (.support, [.purchases, .receipts, .deadLetters]),
            (.operator, [.deadLetters, .eventData, .clock, .jobs]), (.merchandiser, [.products]),
        ] as [(AdministratorScope, Set<Sight>)]
    )
    func eachScopeOpensItsPartOfTheStore(_ scope: AdministratorScope, _ sights: Set<Sight>) throws {
        let rules = VisitRules(isReadOnly: false)
        for sight in Sight.allCases {
            if sights.contains(sight) {
                try rules.require(sight, for: .sample([scope]))
            } else {
                #expect(throws: ConsoleProblem.self) {
                    try rules.require(sight, for: .sample([scope]))
                }
            }
        }
    }

    @Test func anotherScopeDoesNotAllowAnAct() throws {
        let form = try form("csrf=own")
        #expect(throws: ConsoleProblem.self) {
            try VisitRules(isReadOnly: false)
                .requireAct(by: .sample([.support]), as: .operator, form: form)
        }
    }
}
