import EventTypes
import Foundation
import Testing

@testable import Fulfillment

@Suite struct TransactionSnapshotTests {
    @Test(arguments: [true, false])
    func aChangeComposedOfASnapshotIsWhatEncodingItGives(isFinished: Bool) throws {
        let transaction = Transaction.sample(
            7,
            plan: [.credit(unit: "coins", amount: 5), .webhook(url: "https://a.example/x?y=1")]
        )
        let data = try EventCoding.encode(TransactionChanged(transaction: transaction))
        let change = QueueChanged(
            revision: 12,
            transaction: transaction,
            isDelivered: true,
            finishedAt: isFinished ? startOfTime : nil
        )
        let snapshot = try TransactionSnapshot(of: transaction, in: data)
        #expect(
            snapshot.queueChanged(
                revision: 12,
                isDelivered: true,
                finishedAt: change.finishedAt
            )
                == (try EventCoding.encode(change))
        )
    }

    @Test func hostedContentsStandInAChangeAsEncodingItGivesThem() throws {
        let transaction = Transaction.sample(7)
        let data = try EventCoding.encode(TransactionChanged(transaction: transaction))
        let contents = [HostedContent.sample(version: "1.0"), .sample(version: "2.0-beta_1")]
        let composed = try TransactionSnapshot(of: transaction, in: data).queueChanged(
            revision: 12,
            isDelivered: true,
            finishedAt: startOfTime,
            contents: HostedContent.json(of: contents)
        )
        let change = QueueChanged(
            revision: 12,
            transaction: transaction,
            isDelivered: true,
            finishedAt: startOfTime,
            contents: contents
        )
        #expect(try EventCoding.encode(change) == composed)
        #expect(try EventCoding.decode(QueueChanged.self, from: composed) == change)
        #expect(QueueChanged(json: composed) == change)
    }

    @Test func aFieldOfANewerVersionSurvives() throws {
        let transaction = Transaction.sample(7)
        var data = String(
            decoding: try EventCoding.encode(TransactionChanged(transaction: transaction)),
            as: UTF8.self
        )
        data = data.replacing("\"version\":2", with: "\"version\":2,\"zeal\":{\"a\":[\"}\\\"\"]}")
        let snapshot = try TransactionSnapshot(of: transaction, in: Array(data.utf8))
        let text = String(decoding: snapshot.bytes, as: UTF8.self)
        #expect(text.hasSuffix("\"zeal\":{\"a\":[\"}\\\"\"]}}"))
        #expect(
            try JSONDecoder().decode(Transaction.self, from: Data(snapshot.bytes)) == transaction
        )
    }

    @Test(arguments: [
        (#"{"transaction":{"a":1}}"#, #"{"a":1}"#),
        (
            #" { "x" : [ {"transaction":{"b":2}} ] , "transaction" : { "a" : "}" } , "z":1}"#,
            #"{ "a" : "}" }"#
        ),
        (#"{"x":"transaction","transaction":{}}"#, "{}"),
        (#"{"x":"\"transaction\":{}","transaction":{"a":"\\"}}"#, #"{"a":"\\"}"#),
    ])
    func aFieldIsFoundWhereverItStands(json: String, value: String) {
        let data = Array(json.utf8)
        let range = PlainJSON.rangeOfObject("transaction", in: data)
        #expect(range.map { String(decoding: data[$0], as: UTF8.self) } == value)
    }

    @Test(arguments: [
        "", "{", #"{"transaction""#, #"{"transaction":1}"#, #"{"transaction":{"a":1"#,
        #"{"transaction":{"a":"\"#, #"{"x":{"transaction":{}}}"#,
    ])
    func whatIsNoObjectOrCutShortIsNotFound(json: String) {
        #expect(PlainJSON.rangeOfObject("transaction", in: Array(json.utf8)) == nil)
    }
}
