import OperatorCore

extension VerificationReport {
    /// The tables that were compared, and every difference.
    func text(_ palette: Palette) -> String {
        var rows: [[Cell]] = [
            [
                Cell("service", .dim), Cell("table", .dim), Cell("rows", .dim),
                Cell("differences", .dim),
            ]
        ]
        for service in services {
            for table in service.tables {
                rows.append(
                    [
                        Cell(service.name), Cell(table.name), Cell(table.rows.grouped),
                        Cell(table.differences.grouped, table.differences == 0 ? .plain : .red),
                    ]
                )
            }
        }
        var parts = [palette.table(rows, numbers: [2, 3], indent: 2)]
        for service in services {
            let lines = service.lines
            guard !lines.isEmpty else { continue }
            parts.append(
                ([palette.styled(Cell(service.name, .bold))] + lines).joined(separator: "\n  ")
            )
        }
        return parts.joined(separator: "\n\n")
    }
}
