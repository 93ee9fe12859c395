import Foundation

extension BenchChart {
    /// Reads the records in a folder, ordered by file name.
    ///
    /// - Throws: An error if a record cannot be read.
    init(ofRecordsIn folder: URL) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".json") }.sorted()
        self.init(
            of: try names.map { name in
                let data = try Data(contentsOf: folder.appendingPathComponent(name))
                return (
                    String(name.dropLast(".json".count)),
                    try JSONDecoder().decode(Record.self, from: data)
                )
            }
        )
    }
}
