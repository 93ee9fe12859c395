import EventTypes
import StoreAPI
import Testing

@testable import Scenarios

/// Files as they are read, and the mistakes in them.
@Suite struct ScenarioReaderTests {
    private static let wish = """
        scenario: A child asks, and the parent approves
        seed: 7
        products:
          hint: {type: consumable, price: 0.49 USD, credits: {hints: 1}}
        devices: {phone: ada, tablet: ada, console: bob}
        steps:
          - buy: hint
            as: wish
            device: tablet
            method: needs_approval
          - approve: wish
          - advance: 1d12h
          - expect:
              queue: {wish: [purchasing, deferred, purchased]}
              credits: {ada: {hints: 1}}
              transaction: {wish: {price: 0.490 USD, revoked: false}}
        """

    private func problems(_ text: String) -> [String] {
        do throws(ScenarioProblems) {
            _ = try ScenarioReader.read(text)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test func aFileIsReadWithItsNamesAndDefaults() throws {
        let scenario = try ScenarioReader.read(Self.wish.replacing("0.490", with: "0.49"))
        #expect(scenario.seed == 7)
        #expect(scenario.accounts.map(\.name) == ["ada", "bob"])
        #expect(scenario.devices.map(\.name) == ["phone", "tablet", "console"])
        #expect(scenario.steps.map(\.line) == [7, 11, 12, 13])
        guard case .buy(let purchase) = scenario.steps[0].action else {
            Issue.record("The first step is a purchase.")
            return
        }
        #expect(purchase.name == "wish" && purchase.device == "tablet" && purchase.quantity == 1)
        #expect(purchase.method == .needsApproval)
        guard case .expect(let facts) = scenario.steps[3].action else {
            Issue.record("The last step is an expectation.")
            return
        }
        #expect(
            facts.map(\.subject) == [
                .states(payment: "wish", device: "tablet"), .credit(account: "ada", unit: "hints"),
                .transaction(payment: "wish", field: "price"),
                .transaction(payment: "wish", field: "revoked"),
            ]
        )
        #expect(facts.map(\.line) == [14, 15, 16, 16])
        #expect(facts[2].expected == .text("0.49 USD"))
    }

    @Test func jsonIsReadAsYAMLIs() throws {
        let scenario = try ScenarioReader.read(
            """
            {
              "scenario": "Coins", "seed": 3,
              "products": {"coins": {"type": "consumable", "price": "0.99 USD"}},
              "steps": [{"buy": "coins", "quantity": 2}]
            }
            """
        )
        #expect(scenario.seed == 3 && scenario.steps.map(\.line) == [4])
        #expect(scenario.devices == [ScenarioDevice(name: "phone", account: "ada")])
        #expect(scenario.steps[0].action.description == "buy 2 × 'coins' on 'phone'")
    }

    @Test func everyMistakeIsReportedWithItsPlace() {
        let text = """
            scenario: Mistakes
            product:
              coins: {type: consumable}
            steps:
              - by: coins
              - buy: coins
                quantity: eleven
                method: succes
              - advance: 31
              - approve: a
                decline: b
            """
        #expect(
            problems(text) == [
                "2:1: 'product' is not known here; did you mean 'products'?",
                "5:5: there is no step 'by'; did you mean 'buy'?",
                "7:15: this must be a whole number from 1 to 10, and is 'eleven'",
                "8:13: 'succes' is not known here; did you mean 'success'?",
                "9:14: this must be a span such as 31d or 1h30m, and is '31'",
                "10:5: 'approve' and 'decline' are two steps; write each as a step of its own",
            ]
        )
    }

    @Test func everyNameMustBeDeclared() {
        let text = """
            scenario: Names
            products:
              coins: {type: consumable, price: 0.99 USD, prices: {DEUTSCHLAND: 0.99 EUR}}
            steps:
              - buy: coin
              - buy: coins
                device: phon
              - buy: coins
              - buy: coins
              - finish: coins
              - refund: wish
              - expect: {owns: {bob: [coins]}, queue: {coinz: [purchased]}}
              - expect: {unfinished: {ada: [renewal of coins, renewal of coin, gift of coins]}}
            """
        #expect(
            problems(text) == [
                "3:55: 'DEUTSCHLAND' is not an ISO 3166-1 alpha-3 storefront such as USA",
                "5:10: there is no product 'coin' here; did you mean 'coins'?",
                "7:13: there is no device 'phon' here; did you mean 'phone'?",
                "9:10: another payment is called 'coins'; give this one a name with 'as'",
                "11:13: there is no payment 'wish' here; there is coins",
                "12:21: there is no account 'bob' here; there is ada",
                "12:44: there is no payment 'coinz' here; did you mean 'coins'?",
                "13:51: there is no product 'coin' here; did you mean 'coins'?",
                "13:68: there is no payment 'gift of coins' here; there is coins",
            ]
        )
    }

    @Test func aPaymentOfAShuffleIsUsedOnlyAfterIt() {
        let text = """
            scenario: Shuffle
            products: {coins: {type: consumable, price: 0.99 USD}}
            steps:
              - shuffle:
                  - buy: coins
                  - finish: coins
              - refund: coins
            """
        #expect(
            problems(text) == [
                "6:17: 'coins' is bought in the same shuffle, and may come later; end the shuffle first"
            ]
        )
    }

    @Test func faultsNameServicesAnswersAndPayments() throws {
        let steps = """
            - buy: coins
              unanswered: true
            - kill: payments
            - restart: payments
            - freeze: receipts
            - thaw: receipts
            - drop: finish
              times: 2
            - drop: payment
            - duplicate: coins
            - answer: 503
            """
        let scenario = try ScenarioReader.read(
            "scenario: x\nproducts: {coins: {type: consumable, price: 1 USD}}\nsteps:\n\(steps)"
        )
        #expect(
            scenario.steps.map(\.action.description) == [
                "buy 'coins' on 'phone', and wait for no answer",
                "kill payments", "start payments again", "freeze receipts", "let receipts go on",
                "lose the next 2 answers to a finish", "lose the next answer to a payment",
                "send the events about 'coins' once more",
                "let the merchant's server answer with 503",
            ]
        )
        #expect(
            problems(
                "scenario: x\nproducts: {a: {type: consumable, price: 1 USD}}\n"
                    + "steps: [{buy: a, unanswered: true, refused: stale_price}]"
            ) == ["3:45: without an answer the run cannot see a refusal"]
        )
        #expect(
            problems("scenario: x\nsteps: [{kill: payment}, {drop: finnish}, {answer: 99}]") == [
                "2:16: 'payment' is not known here; did you mean 'payments'?",
                "2:33: 'finnish' is not known here; did you mean 'finish'?",
                "2:52: this must be a whole number from 200 to 599, and is '99'",
            ]
        )
    }

    @Test(arguments: [
        ("", "1:1: the file is empty"),
        ("scenario: [", "2:1: this is not YAML: did not find expected node content"),
        ("a: 1\nb: 2\na: 3", "1:1: 'a' stands here more than once"),
        ("- 1", "1:1: names and values must stand here, and there is a list"),
        ("scenario: x", "1:1: 'steps' is missing"),
        ("scenario: x\nsteps: 3", "2:8: this must be a list, and is '3'"),
        (
            "scenario: x\nsteps: []\nseed: \"1\"",
            "3:7: this must be a whole number from 0 to 4294967295, and is the text '1'"
        ),
        ("scenario:\nsteps: []", "1:10: this must be text, and is empty"),
    ])
    func whatIsNoScenarioIsRefused(text: String, problem: String) {
        #expect(problems(text).first == problem)
    }

    @Test(arguments: [
        ("0.99 USD", 99, "USD"), ("-0.99 USD", -99, "USD"), ("1500 JPY", 1500, "JPY"),
        ("1 USD", 100, "USD"), ("1.5 KWD", 1500, "KWD"),
    ])
    func anAmountHasItsCurrency(text: String, units: Int64, currency: String) {
        #expect(
            Money(scenario: text)
                == Money(minorUnits: units, currency: Currency(unchecked: currency))
        )
    }

    @Test(arguments: [
        "0.99", "USD", "0.999 USD", "1.5 JPY", "0,99 USD", "1. USD", ".5 USD", "1 XYZ",
    ])
    func whatIsNoAmountIsNotRead(text: String) {
        #expect(Money(scenario: text) == nil)
    }
}
