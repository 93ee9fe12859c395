import HTTPTypes
import Hummingbird
import NIOCore

/// Makes an answer of a page.
func pageResponse(_ page: HTML, _ status: HTTPResponse.Status = .ok) -> Response {
    Response(
        status: status,
        headers: [.contentType: "text/html; charset=utf-8"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: page.markup))
    )
}
