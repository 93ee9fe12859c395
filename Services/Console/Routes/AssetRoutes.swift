import HTTPTypes
import Hummingbird
import NIOCore
import ServiceKit

/// The files of the pages, which are part of the program.
struct AssetRoutes: Sendable {
    /// The folder that browsers see.
    static let folder = "/assets/"

    private static let files: [(name: String, type: String, bytes: [UInt8])] = [
        ("console.css", "text/css; charset=utf-8", PackageResources.console_css),
        ("console.js", "text/javascript; charset=utf-8", PackageResources.console_js),
        ("icon.svg", "image/svg+xml", PackageResources.icon_svg),
    ]

    func add(to router: Router<StoreRequestContext>) {
        for file in Self.files {
            router.get("\(Self.folder)\(file.name)") { _, _ in
                Response(
                    status: .ok,
                    headers: [.contentType: file.type],
                    body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes))
                )
            }
        }
    }
}
