/// The folders of targets, and what their files say of each other.
struct Rooms: Sendable {
    /// A file with what was read in it.
    struct Resident: Sendable {
        let file: SourceFile
        let outline: SwiftOutline
        /// The folder.
        let room: String
        /// The folder of the target: `Services/Payments`.
        let target: String
        /// The name without what follows a `+` or a dot.
        let title: String

        init(_ file: SourceFile) {
            self.file = file
            outline = SwiftOutline(file.text)
            let parts = file.path.split(separator: "/")
            room = parts.dropLast().joined(separator: "/")
            target = parts.prefix(2).joined(separator: "/")
            title = String(file.name.dropLast(".swift".count).prefix { $0 != "+" })
        }
    }

    private let residents: [Resident]

    init(_ residents: [Resident]) { self.residents = residents }
    init(_ files: [SourceFile]) { residents = files.map(Resident.init) }

    /// Only the files of some paths.
    func filter(_ isIncluded: (SourceFile) -> Bool) -> Rooms {
        Rooms(residents.filter { isIncluded($0.file) })
    }

    /// The files whose brackets do not match, as far as this reader sees.
    var unread: [String] { residents.filter { !$0.outline.isWhole }.map(\.file.path) }

    /// The folders with more files than fit on a floor, and how many they have.
    static func crowded(_ files: [SourceFile], above limit: Int) -> [String: Int] {
        Dictionary(grouping: files) { file in
            file.path.split(separator: "/").dropLast().joined(separator: "/")
        }
        .mapValues(\.count).filter { $1 > limit }
    }

    /// The files that neither declare nor extend what they are named after, with what they declare.
    ///
    /// Suites of end-to-end tests stand in extensions, and a file of tests may be named after one.
    var misnamed: [String: [String]] {
        var found: [String: [String]] = [:]
        for resident in residents where resident.title != "main" {
            let outline = resident.outline
            let names = outline.declarations.map(\.name)
            let isExtension = resident.file.name.contains("+")
            let isOfTests = resident.file.path.hasPrefix("Tests/")
            let matches =
                names.contains(resident.title)
                || outline.declarations.contains {
                    // A function's file begins with a capital as every file does.
                    $0.kind == "func" && $0.name.lowercased() == resident.title.lowercased()
                }
                || isExtension && outline.extended.contains(resident.title)
                || isOfTests && outline.nested.contains(resident.title)
            if !matches {
                found[resident.file.path] =
                    names + outline.extended.sorted().map { "extension \($0)" }
                    + outline.nested.sorted()
            }
        }
        return found
    }

    /// The types that are declared more than once, and where.
    var homonyms: [String: [String]] {
        var places: [String: [String]] = [:]
        for resident in residents {
            for declaration in resident.outline.declarations
            where declaration.isType && !declaration.isPrivate {
                places[declaration.name, default: []].append(resident.file.path)
            }
        }
        return places.filter { $1.count > 1 }
    }

    /// Pairs of rooms of one target that use each other's names: "A ↔ B", with the names.
    var circles: [String: [String]] {
        var found: [String: [String]] = [:]
        for residents in Dictionary(grouping: residents, by: \.target).values {
            let arrows = Self.arrows(between: residents)
            for (from, targets) in arrows {
                for (to, names) in targets where from < to {
                    guard let back = arrows[to]?[from] else { continue }
                    found["\(from) ↔ \(to)"] = names.sorted() + back.sorted()
                }
            }
        }
        return found
    }

    /// For each room, the rooms whose names it uses, and where.
    private static func arrows(between residents: [Resident]) -> [String: [String: Set<String>]] {
        var owners: [String: [Resident]] = [:]
        for resident in residents {
            let names = resident.outline.declarations.filter { !$0.isPrivate }.map(\.name)
            for name in Set(names) { owners[name, default: []].append(resident) }
        }
        var arrows: [String: [String: Set<String>]] = [:]
        for resident in residents {
            for name in resident.outline.used {
                // Of functions of one name it is not known here which is meant.
                guard let owner = owners[name], owner.count == 1, owner[0].room != resident.room
                else { continue }
                arrows[resident.room, default: [:]][owner[0].room, default: []].insert(
                    "\(resident.file.name) uses \(name) of \(owner[0].file.name)"
                )
            }
        }
        return arrows
    }
}
