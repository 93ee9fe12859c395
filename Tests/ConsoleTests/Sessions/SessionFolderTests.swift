import EventTypes
import Foundation
import Logging
import Testing

@testable import Console

@Suite struct SessionFolderTests {
    private static let maria = AdministratorName(unchecked: "maria")
    private static let start = MachineTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func after(minutes: Int) -> MachineTime {
        start.advanced(by: .seconds(minutes * 60))
    }

    /// Runs a body with a folder, and with tables as consoles that start one after the other make them.
    private func run(_ body: (_ path: String, () throws -> SessionTable) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(
            path: "sessions-\(UUID().uuidString)"
        ).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path) {
            SessionTable(
                in: SessionFolder(
                    try StateFolder(path, "sessions"),
                    logger: Logger(label: "test")
                )
            )
        }
    }

    private func files(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/sessions")
    }

    @Test func aSessionOutlivesARestart() throws {
        try run { _, start in
            let first = try start()
            let secret = first.begin(with: "token", of: Self.maria, at: Self.start, isSandbox: true)
            let session = first.session(of: secret, at: Self.after(minutes: 20))
            let again = try start().session(of: secret, at: Self.after(minutes: 49))
            #expect(again?.token == "token" && again?.isSandbox == true)
            #expect(again?.csrf == session?.csrf, "a form that is open can still be sent")
            #expect(again?.begunAt == Self.start)
        }
    }

    @Test func aRestartProlongsNoSession() throws {
        try run { path, start in
            let secret = try start().begin(with: "token", of: Self.maria, at: Self.start)
            #expect(try start().session(of: secret, at: Self.after(minutes: 30)) == nil)
            try start().sweep(at: Self.after(minutes: 30))
            #expect(try files(path).isEmpty)
        }
    }

    @Test func aSessionThatWasEndedDoesNotComeBack() throws {
        try run { path, start in
            let sessions = try start()
            let secret = sessions.begin(with: "token", of: Self.maria, at: Self.start)
            #expect(try files(path).count == 1)
            sessions.end(secret)
            #expect(try files(path).isEmpty)
            #expect(try start().session(of: secret, at: Self.start) == nil)
        }
    }

    @Test func aSessionWhoseFileStaysIsEndedAllTheSame() throws {
        try run { path, start in
            let sessions = try start()
            let secret = sessions.begin(with: "token", of: Self.maria, at: Self.start)
            let file = path + "/sessions/" + (try #require(try files(path).first))
            let kept = try Data(contentsOf: URL(fileURLWithPath: file))
            sessions.end(secret)
            try kept.write(to: URL(fileURLWithPath: file))
            #expect(sessions.session(of: secret, at: Self.after(minutes: 1)) == nil)
            sessions.sweep(at: Self.after(minutes: 2))
            #expect(sessions.session(of: secret, at: Self.after(minutes: 3)) == nil)
        }
    }

    @Test func sessionsInFilesAloneAreEndedEverywhere() throws {
        try run { path, start in
            let before = try start()
            let own = before.begin(with: "token", of: Self.maria, at: Self.start)
            let max = AdministratorName(unchecked: "max")
            let other = before.begin(with: "token", of: max, at: Self.start)
            // A console that has started again has none of them in memory.
            let again = try start()
            again.endAll(of: Self.maria, at: Self.after(minutes: 1))
            #expect(try files(path).count == 1)
            #expect(again.session(of: own, at: Self.after(minutes: 2)) == nil)
            #expect(again.session(of: other, at: Self.after(minutes: 2)) != nil)
        }
    }

    @Test func aFileThatStaysOpensNothingAfterAllWereEnded() throws {
        try run { path, start in
            let before = try start()
            let secret = before.begin(with: "token", of: Self.maria, at: Self.start)
            let file = path + "/sessions/" + (try #require(try files(path).first))
            let kept = try Data(contentsOf: URL(fileURLWithPath: file))
            let again = try start()
            again.endAll(of: Self.maria, at: Self.after(minutes: 1))
            try kept.write(to: URL(fileURLWithPath: file))
            again.sweep(at: Self.after(minutes: 2))
            #expect(again.session(of: secret, at: Self.after(minutes: 3)) == nil)
        }
    }

    @Test func aFolderThatWasOpenToOthersIsClosed() throws {
        try run { path, _ in
            try FileManager.default.createDirectory(
                atPath: path + "/sessions",
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755]
            )
            let folder = try StateFolder(path, "sessions")
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
            #expect(attributes[.posixPermissions] as? Int == 0o700)
            // What is not there need not be removed.
            try folder.remove("none")
        }
    }

    @Test func aFileAloneOpensNothing() throws {
        try run { path, start in
            let secret = try start().begin(with: "token-of-maria", of: Self.maria, at: Self.start)
            let file = try #require(try files(path).first)
            let text = try String(contentsOfFile: path + "/sessions/" + file, encoding: .utf8)
            #expect(!text.contains("token-of-maria") && !text.contains(secret))
            #expect(!file.contains(secret))
            let other = try JSONDecoder().decode(SealedSession.self, from: Data(text.utf8))
            #expect(other.opened(with: secret)?.token == "token-of-maria")
            #expect(other.opened(with: RandomSecret.make()) == nil)
        }
    }

    @Test func aFileThatWasChangedOpensNothing() throws {
        try run { path, start in
            let secret = try start().begin(with: "token", of: Self.maria, at: Self.start)
            let file = path + "/sessions/" + (try #require(try files(path).first))
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let later = Self.after(minutes: 600).millisecondsSinceEpoch
            let longer = text.replacing("\(Self.start.millisecondsSinceEpoch)", with: "\(later)")
            #expect(longer != text)
            try longer.write(toFile: file, atomically: true, encoding: .utf8)
            #expect(try start().session(of: secret, at: Self.after(minutes: 601)) == nil)
        }
    }
}
