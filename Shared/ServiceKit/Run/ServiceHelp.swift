import StoreAPI

/// The help texts of a service's command line.
enum ServiceHelp {
    static let version = CounterfoilVersion.current

    static func text(
        of name: String,
        hasBooks: Bool = true,
        further: [ServiceCommand] = []
    ) -> String {
        let books = """
              \(name) migrate     bring the service's database up to date, then exit
              \(name) rebuild     rebuild the tables in a separate database and report every
                                  difference (used by `counterfoil replay --verify`)

            """
        let commands = further.map { command in
            "  \(name) \(padded(command.name, 10))  \(command.meaning)\n"
        }.joined()
        return """
            \(name) — one of Counterfoil's services (version \(version))

            Usage:
              \(name)             serve until SIGTERM or SIGINT (a second signal stops it at once)
            \(hasBooks ? books : "")  \(name) settings    list every setting: key, default, meaning
            \(commands)  \(name) --version   print the version
              \(name) --help      print this

            Settings are environment variables. All problems are reported at once. Logs go to standard
            error; LOG_LEVEL and LOG_FORMAT (text, json) shape them.

            While it serves: GET /health/live, GET /health/ready (503 names what it waits for),
            GET /metrics (Prometheus).

            Exit status: 0 stopped or done, 1 failed, 64 unknown command, 78 invalid settings.

            """
    }

    /// A table of settings; a key that is read twice is listed once.
    static func table(_ settings: [DocumentedSetting]) -> String {
        var seen: Set<String> = []
        let settings = settings.filter { seen.insert($0.key).inserted }
        let rows =
            [("KEY", "DEFAULT", "MEANING")] + settings.map { ($0.key, shown($0), $0.meaning) }
        let keyWidth = rows.map(\.0.count).max() ?? 0
        let defaultWidth = rows.map(\.1.count).max() ?? 0
        return rows.map { key, value, meaning in
            "\(padded(key, keyWidth))  \(padded(value, defaultWidth))  \(meaning)\n"
        }.joined()
    }

    private static func shown(_ setting: DocumentedSetting) -> String {
        guard let value = setting.defaultValue else { return "(required)" }
        return value.isEmpty ? "(none)" : value
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
