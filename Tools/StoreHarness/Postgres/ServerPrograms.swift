import Foundation

/// The location of the server's programs, and the way to run them.
struct ServerPrograms: Sendable {
    private let directory: String
    private let needsUser: Bool

    private static let found = Result { try ServerPrograms.search() }

    /// Returns the programs of this machine.
    static func find() throws -> ServerPrograms { try found.get() }

    /// Looks in the directory that `pg_config` prints, then in Debian's directories (newest version
    /// first).
    private static func search() throws -> ServerPrograms {
        var candidates: [String] = []
        if let said = try? output(of: "/usr/bin/env", ["pg_config", "--bindir"]) {
            candidates.append(said.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        let debian = "/usr/lib/postgresql"
        // Other systems do not have this directory. There, the first candidate is the only one.
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
        candidates += versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }
            .map { "\(debian)/\($0)/bin" }
        for candidate in candidates
        where FileManager.default.isExecutableFile(atPath: candidate + "/initdb") {
            return ServerPrograms(directory: candidate, needsUser: geteuid() == 0)
        }
        throw PostgresClusterError(
            """
            PostgreSQL's server programs are not installed. Install them \
            (apt-get install postgresql), or name a running server by POSTGRES_URL, as in \
            POSTGRES_URL=postgres://postgres:password@127.0.0.1:5432/postgres
            """
        )
    }

    /// Returns the path of a program.
    func path(of program: String) -> String { directory + "/" + program }

    /// Runs a program and waits for its end.
    func run(_ program: String, _ arguments: [String]) throws {
        try runAsServer([path(of: program)] + arguments)
    }

    /// Copies a directory of the server's user, with all that it contains.
    func copy(_ directory: String, to copy: String) throws {
        // The end in a dot also copies into a directory that exists already.
        try runAsServer(["cp", "-a", "--reflink=auto", directory + "/.", copy])
    }

    private func runAsServer(_ command: [String]) throws {
        let user = needsUser ? ["runuser", "-u", "postgres", "--"] : []
        _ = try Self.output(of: "/usr/bin/env", user + command)
    }

    /// Makes the server's user the owner of a directory.
    func handOver(_ directory: String) throws {
        guard needsUser else { return }
        _ = try Self.output(of: "/usr/bin/env", ["chown", "postgres", directory])
    }

    /// Runs a program to its end and returns its output.
    ///
    /// It uses `posix_spawn`, because `Foundation.Process` waits for the end of every process that
    /// has inherited its descriptors. The server that `pg_ctl` leaves running has inherited them.
    /// For the same reason the output goes to a file and not to a pipe.
    private static func output(of program: String, _ arguments: [String]) throws -> String {
        let file = "\(NSTemporaryDirectory())/counterfoil-output-\(UUID().uuidString)"
        defer { unlink(file) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, file, O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        try actions.closeEverythingElse()
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        defer { words.forEach { free($0) } }
        var process: pid_t = 0
        guard posix_spawn(&process, program, &actions, nil, words, environ) == 0 else {
            throw PostgresClusterError("\(program) cannot be run")
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        let text = try String(contentsOfFile: file, encoding: .utf8)
        guard status == 0 else {
            throw PostgresClusterError(
                "\(program) \(arguments.prefix(6)) ended with status \(status): "
                    + "\(text.suffix(600))"
            )
        }
        return text
    }
}
